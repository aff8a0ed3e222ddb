"""Making the cluster hold exactly the members of a set: first everything that forbids it, then apply, then prune."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.existing_objects import ExistingObjects
from jacquard.providers.objectset.explaining import explain
from jacquard.providers.objectset.inputs import Identity, ObjectSet, brief
from jacquard.providers.objectset.members import Members, marked, still_to_come
from jacquard.providers.objectset.moves import Move, moves
from jacquard.providers.objectset.patching import Patches
from jacquard.providers.objectset.pruning import in_use, prune
from jacquard.providers.objectset.session import Session, Tell
from jacquard.providers.objectset.workers import CancelledError, Outcomes
from jacquard.providers.rpc.values import UNKNOWN


class RefusedError(ProviderError):
    """Something forbids the change; nothing was sent that could alter the cluster."""

    def __init__(self, wanted: ObjectSet, reasons: Iterable[str]) -> None:
        lines = "\n  ".join(reasons)
        super().__init__(f"ObjectSet {wanted.id}: refused, nothing was changed:\n  {lines}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the state says about a set."""

    objects: ObjectSet
    uids: Mapping[str, Any]
    """Uids of members by key; a member without one is not known to be in the cluster as recorded."""
    waiting: Collection[str] = ()
    """Objects of other controllers, in words, that do not have their fields as recorded."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a change, or would come of a previewed one."""

    uids: Mapping[str, Any]
    """Uids of members by key; `UNKNOWN` in a preview for a member that is still to be created.

    After a change that was done in part, members with a uid are those that are in the cluster as the engine records
    them: it records new inputs for a new set and keeps old ones for a changed set. The next run applies all others.
    """
    problems: tuple[str, ...] = ()
    unchecked: int = 0
    """Members that a preview could not try: their kind or namespace is still to come."""
    left_alone: tuple[str, ...] = ()
    """Removed members that are not known to be ours any more; they are not deleted."""
    handed_over: tuple[str, ...] = ()
    """Removed members that another set of the program takes over, with its id."""
    taken: tuple[str, ...] = ()
    """Fields taken from other managers."""
    waiting: tuple[str, ...] = ()
    """Objects of other controllers that do not have their fields: not there yet, or not known to be as wanted."""


class Change:
    """One change of a set, from what is recorded (None for a new set) to what is wanted.

    Making one reads the cluster: the parent, and what carries the set's label.

    Raises:
        ApiError: The server refused to answer.
    """

    def __init__(self, session: Session, wanted: ObjectSet, *, urn: str, recorded: Recorded | None, tell: Tell) -> None:
        self._session = session
        self._wanted = wanted
        self._urn = urn
        self._tell = tell
        self._is_new = recorded is None
        self._recorded = recorded.objects if recorded else ObjectSet(wanted.name, wanted.namespace, {})
        uids = recorded.uids if recorded else {}
        known = {identity: uids.get(key) for identity, key in self._recorded.identities().items()}
        self._uids = {identity: uid for identity, uid in known.items() if uid and uid is not UNKNOWN}
        self._members = Members(session, wanted)
        self._parent = session.api.get(ObjectRef("v1", "ConfigMap", wanted.name, wanted.namespace))
        self._patches = Patches(
            session,
            wanted,
            recorded=self._recorded,
            known=applyset.patches(self._parent) if self._parent and not applyset.foreign(self._parent) else {},
            waiting=recorded.waiting if recorded else (),
        )
        self._handed_over: dict[Identity, str] = {}
        self._orphans = self._find_orphans()
        self._moves = self._find_moves()

    def preview(self, unknown: Collection[str] = (), *, patches_known: bool = True) -> Result:
        """Try every changed member on the server without changing anything.

        Args:
            unknown: Keys of members with values that are known only later; they cannot be tried.
            patches_known: No value of a patch is known only later; otherwise none can be tried.

        Raises:
            RefusedError: With everything that forbids the change or that the server would refuse.
        """
        items = {key: identity for key, identity in self._changed().items() if key not in unknown}
        outcomes = self._members.apply(items, dry_run=True)
        to_come = [key for key, error in outcomes.failed.items() if still_to_come(error)]
        refused = {key: error for key, error in outcomes.failed.items() if key not in to_come}
        patched = self._patches.apply(dry_run=True) if patches_known else []
        refusals = [*self._refusals(), *self._explained(refused), *patched]
        if refusals:
            raise RefusedError(self._wanted, refusals)
        uids = dict.fromkeys(self._wanted.members, UNKNOWN) | self._known_uids()
        return self._result(uids, unchecked=len(to_come))

    def run(self, timeout_seconds: float) -> Result:
        """Apply every changed member, then prune; what fails is in the result, and nothing is undone.

        A machine that moves is the exception: its old object goes first. Objects of other controllers come last.

        Args:
            timeout_seconds: How long finalizers may hold what is pruned.

        Raises:
            RefusedError: With everything that forbids the change; nothing was sent.
        """
        refusals = [*self._refusals()]
        if refusals:
            raise RefusedError(self._wanted, refusals)
        self._write_parent(self._kinds(), self._namespaces(), self._patches.former_and_wanted())
        moved = {move.old for move in self._moves}
        problems = self._prune((one for one in self._orphans if self._wanted.identity(one) in moved), timeout_seconds)
        changed = self._changed()
        outcomes: Outcomes[str, dict[str, Any]] = Outcomes() if problems else self._members.apply(changed)
        applied = {key: brief(live) for key, live in outcomes.done.items()}
        problems = problems or self._explained(outcomes.failed)
        if not problems:
            rest = (one for one in self._orphans if self._wanted.identity(one) not in moved)
            problems = self._prune(rest, timeout_seconds) or self._patch() or self._narrow_parent()
        uids = self._known_uids()
        if problems and not self._is_new:
            return self._result({key: uid for key, uid in uids.items() if key not in changed}, problems)
        return self._result(uids | applied, problems)

    def _result(self, uids: Mapping[str, Any], problems: Iterable[str] = (), *, unchecked: int = 0) -> Result:
        handed_over = (f"{identity} to {taker}" for identity, taker in sorted(self._handed_over.items()))
        return Result(
            uids=uids,
            problems=tuple(problems),
            unchecked=unchecked,
            left_alone=tuple(self._left_alone()),
            handed_over=tuple(handed_over),
            taken=tuple(sorted(self._members.taken + self._patches.taken)),
            waiting=self._patches.changed if problems else self._patches.absent,
        )

    def _prune(self, bodies: Iterable[Mapping[str, Any]], timeout_seconds: float) -> list[str]:
        """Delete what is not wanted and return in words what went wrong."""
        session, wanted, tell = self._session, self._wanted, self._tell
        try:
            held = prune(session, wanted, bodies, look=self._labelled, tell=tell, timeout_seconds=timeout_seconds)
        except ProviderError as error:
            return [str(error)]
        return [held[identity] for identity in sorted(held)]

    def _patch(self) -> list[str]:
        try:
            return self._patches.apply() + self._patches.give_back()
        except ProviderError as error:
            return [str(error)]

    def _narrow_parent(self) -> list[str]:
        if self._handed_over:
            return []  # until their new set has them, they must be found from here
        try:
            self._write_parent(self._wanted.versions(), self._wanted.namespaces(), self._wanted.patches)
        except ProviderError as error:
            return [str(error)]
        return []

    def _left_alone(self) -> Iterator[str]:
        """Yield the removed members that exist without our marks, unless another set has put its own on them."""
        pruned = {self._recorded.identity(body) for body in self._orphans}
        strays = self._removed() - pruned - set(self._handed_over)
        keys = {key: one for one, key in self._recorded.identities().items() if one in strays}
        found = Members(self._session, self._recorded).look(keys).done
        for key, identity in sorted(keys.items(), key=lambda item: item[1]):
            live = found.get(key)
            if live is not None and not applyset.of_another(live, self._wanted.applyset):
                yield str(identity)

    def _refusals(self) -> Iterator[str]:
        foreign = None if self._parent is None else applyset.foreign(self._parent)
        if foreign:
            yield f"ConfigMap {self._wanted.id} {foreign}; choose another setName or remove it"
        maker = applyset.maker(self._parent) if self._is_new and self._parent and not foreign else None
        if maker not in (None, self._urn):
            remedy = "choose another setName, or give this resource that one as an alias"
            yield f"ConfigMap {self._wanted.id} is the parent of the set of {maker}; {remedy}"
        candidates = {identity: self._uids.get(identity) for identity in self._changed().values()}
        yield from ExistingObjects(self._session, self._wanted, self._urn).refusals(candidates)
        used = in_use(self._session, self._wanted, self._orphans)
        moving = {move.old: move for move in self._moves}
        for identity in sorted(used.keys() | moving.keys()):
            move, why = moving.get(identity), used.get(identity)
            words = move.refusal(self._wanted.namespace, why) if move else f"{identity} {why}"
            if words:
                yield words

    def _changed(self) -> dict[str, Identity]:
        """Return the members to apply by key: new ones, changed ones, and those that never got there."""
        recorded = {identity: self._recorded.members[key] for identity, key in self._recorded.identities().items()}
        return {
            key: identity
            for identity, key in self._wanted.identities().items()
            if identity not in self._uids or recorded[identity] != self._wanted.members[key]
        }

    def _removed(self) -> set[Identity]:
        """Return the recorded members that are not wanted; none while an identity is unknown."""
        wanted = self._wanted.identities()
        return set() if len(wanted) < len(self._wanted.members) else set(self._recorded.identities()) - set(wanted)

    def _find_orphans(self) -> list[dict[str, Any]]:
        """Return live objects of the set that are not wanted; none while an identity is unknown."""
        wanted = self._wanted.identities()
        new = self._parent is None and not self._recorded.members
        if new or len(wanted) < len(self._wanted.members):
            return []
        orphans = {self._wanted.identity(body): body for body in self._labelled()}
        orphans = {identity: body for identity, body in orphans.items() if identity not in wanted and marked(body)}
        if orphans:
            announced = self._session.announced
            announced.settle(self._session.workers.cancelled)
            takers = {identity: announced.taker(self._wanted, identity) for identity in orphans}
            self._handed_over = {identity: taker for identity, taker in takers.items() if taker}
        return [body for identity, body in orphans.items() if identity not in self._handed_over]

    def _find_moves(self) -> list[Move]:
        coming = [self._wanted.members[key] for key, one in self._changed().items() if one not in self._uids]
        return list(moves(self._wanted, self._orphans, coming))

    def _labelled(self) -> list[dict[str, Any]]:
        return self._members.labelled(self._kinds(), self._namespaces())

    def _kinds(self) -> set[tuple[str, str]]:
        """Return every kind that the set has or had."""
        parent = applyset.contents(self._parent)[0] if self._parent else set()
        return parent | set(self._wanted.versions()) | set(self._recorded.versions())

    def _namespaces(self) -> set[str]:
        parent = applyset.contents(self._parent)[1] if self._parent else set()
        return parent | self._wanted.namespaces() | self._recorded.namespaces()

    def _write_parent(
        self, kinds: Iterable[tuple[str, str]], namespaces: Iterable[str], patches: Mapping[str, Any]
    ) -> None:
        name, namespace = self._wanted.name, self._wanted.namespace
        body = applyset.parent(name, namespace, kinds, namespaces, patches=patches, urn=self._urn)
        if self._parent and applyset.same(self._parent, body):
            return
        try:
            self._parent = self._session.api.apply(body, field_manager=applyset.FIELD_MANAGER)
        except ApiError as error:
            identity = Identity("", "ConfigMap", self._wanted.namespace, self._wanted.name)
            raise ProviderError(explain(identity, error)) from None

    def _known_uids(self) -> dict[str, Any]:
        identities = self._wanted.identities()
        return {key: self._uids[identity] for identity, key in identities.items() if identity in self._uids}

    def _explained(self, failed: Mapping[str, ProviderError]) -> list[str]:
        cancelled = [key for key, error in failed.items() if isinstance(error, CancelledError)]
        words = [
            explain(self._wanted.identity(self._wanted.members[key]), error)
            for key, error in failed.items()
            if not isinstance(error, CancelledError)
        ]
        return words + [f"{len(cancelled)} objects {CancelledError()}"] * bool(cancelled)
