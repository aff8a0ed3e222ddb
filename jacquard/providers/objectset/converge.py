"""Reconciles the cluster to the members of a set: check all preconditions, apply, then prune."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.claims import Move, moves
from jacquard.providers.objectset.existing_objects import ExistingObjects
from jacquard.providers.objectset.explaining import explain
from jacquard.providers.objectset.inputs import Identity, ObjectSet, brief
from jacquard.providers.objectset.members import Members, marked, still_to_come
from jacquard.providers.objectset.patching import Patches
from jacquard.providers.objectset.pruning import in_use, prune
from jacquard.providers.objectset.session import Session, Tell
from jacquard.providers.objectset.workers import CancelledError, Outcomes
from jacquard.providers.rpc.values import UNKNOWN


class RefusedError(ProviderError):
    """A precondition of the change is not met; no request was sent that could alter the cluster."""

    def __init__(self, wanted: ObjectSet, reasons: Iterable[str]) -> None:
        lines = "\n  ".join(reasons)
        super().__init__(f"ObjectSet {wanted.id}: rejected, nothing was changed:\n  {lines}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A set in the state."""

    objects: ObjectSet
    uids: Mapping[str, Any]
    """Uids of members by key; a member without a uid may be missing or differ from the record."""
    waiting: Collection[str] = ()
    """Objects of other controllers, as text, that do not have the recorded fields."""


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a change, or expected result of a previewed change."""

    uids: Mapping[str, Any]
    """Uids of members by key; in a preview, `UNKNOWN` for a member that will be created.

    After a partial change, only members that match the engine's record have a uid: the engine records new inputs for a
    new set and keeps old inputs for a changed set. The next run applies all other members.
    """
    problems: tuple[str, ...] = ()
    unchecked: int = 0
    """Number of members that a preview could not check because their kind or namespace does not exist yet."""
    left_alone: tuple[str, ...] = ()
    """Removed members without the set's marks; they are not deleted."""
    handed_over: tuple[str, ...] = ()
    """Removed members that another set of the program adopts, with the id of the other set."""
    taken: tuple[str, ...] = ()
    """Fields taken from other managers."""
    waiting: tuple[str, ...] = ()
    """Objects of other controllers without the wanted fields: they do not exist yet, or their state is uncertain."""


class Change:
    """A change of a set, from the recorded set (None for a new set) to the wanted set.

    The constructor reads the parent and the objects with the set's label from the cluster.

    Raises:
        ApiError: The server rejected the request.
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
        """Check every changed member by a dry run on the server.

        Args:
            unknown: Keys of members with values that are unknown until apply; they cannot be checked.
            patches_known: False if a patch has values that are unknown until apply; in this case no patch can be
                checked.

        Raises:
            RefusedError: With all unmet preconditions and all rejections of the server.
        """
        items = {key: identity for key, identity in self._changed().items() if key not in unknown}
        outcomes = self._members.apply(items, dry_run=True)
        pending = [key for key, error in outcomes.failed.items() if still_to_come(error)]
        failed = {key: error for key, error in outcomes.failed.items() if key not in pending}
        patched = self._patches.apply(dry_run=True) if patches_known else []
        refusals = [*self._refusals(), *self._explained(failed), *patched]
        if refusals:
            raise RefusedError(self._wanted, refusals)
        uids = dict.fromkeys(self._wanted.members, UNKNOWN) | self._known_uids()
        return self._result(uids, unchecked=len(pending))

    def run(self, timeout_seconds: float) -> Result:
        """Apply every changed member, then prune; failures are in the result, and nothing is rolled back.

        Exception: the old object of a moved machine is deleted first. Objects of other controllers are patched
        last.

        Args:
            timeout_seconds: Time limit for finalizers of pruned objects.

        Raises:
            RefusedError: With all unmet preconditions; nothing was sent.
        """
        refusals = [*self._refusals()]
        if refusals:
            raise RefusedError(self._wanted, refusals)
        self._write_parent(self._kinds(), self._namespaces(), self._patches.former_and_wanted())
        moved = {move.old for move in self._moves}
        problems = self._prune(
            (body for body in self._orphans if self._wanted.identity(body) in moved), timeout_seconds
        )
        changed = self._changed()
        outcomes: Outcomes[str, dict[str, Any]] = Outcomes() if problems else self._members.apply(changed)
        applied = {key: brief(live) for key, live in outcomes.done.items()}
        problems = problems or self._explained(outcomes.failed)
        if not problems:
            rest = (body for body in self._orphans if self._wanted.identity(body) not in moved)
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
        """Delete the given objects and return the failures as messages."""
        session, wanted, tell = self._session, self._wanted, self._tell
        try:
            remaining = prune(session, wanted, bodies, look=self._labelled, tell=tell, timeout_seconds=timeout_seconds)
        except ProviderError as error:
            return [str(error)]
        return [remaining[identity] for identity in sorted(remaining)]

    def _patch(self) -> list[str]:
        try:
            return self._patches.apply() + self._patches.give_back()
        except ProviderError as error:
            return [str(error)]

    def _narrow_parent(self) -> list[str]:
        if self._handed_over:
            return []  # this parent must list the members until their new set has adopted them
        try:
            self._write_parent(self._wanted.versions(), self._wanted.namespaces(), self._wanted.patches)
        except ProviderError as error:
            return [str(error)]
        return []

    def _left_alone(self) -> Iterator[str]:
        """Yield the removed members that exist without the marks of any set."""
        pruned = {self._recorded.identity(body) for body in self._orphans}
        strays = self._removed() - pruned - set(self._handed_over)
        keys = {key: identity for identity, key in self._recorded.identities().items() if identity in strays}
        existing = Members(self._session, self._recorded).look(keys).done
        for key, identity in sorted(keys.items(), key=lambda item: item[1]):
            live = existing.get(key)
            if live is not None and not applyset.of_another(live, self._wanted.applyset):
                yield str(identity)

    def _refusals(self) -> Iterator[str]:
        foreign = None if self._parent is None else applyset.foreign(self._parent)
        if foreign:
            yield f"ConfigMap {self._wanted.id} {foreign}; choose another setName or remove it"
        maker = applyset.maker(self._parent) if self._is_new and self._parent and not foreign else None
        if maker not in (None, self._urn):
            remedy = "choose another setName, or declare that resource as an alias of this resource"
            yield f"ConfigMap {self._wanted.id} is the parent of the set of {maker}; {remedy}"
        candidates = {identity: self._uids.get(identity) for identity in self._changed().values()}
        yield from ExistingObjects(self._session, self._wanted, self._urn).refusals(candidates)
        used = in_use(self._session, self._wanted, self._orphans)
        moving = {move.old: move for move in self._moves}
        for identity in sorted(used.keys() | moving.keys()):
            move, reason = moving.get(identity), used.get(identity)
            message = move.refusal(self._wanted.namespace, reason) if move else f"{identity} {reason}"
            if message:
                yield message

    def _changed(self) -> dict[str, Identity]:
        """Return the members to apply by key: new members, changed members, and members that were never applied."""
        recorded = {identity: self._recorded.members[key] for identity, key in self._recorded.identities().items()}
        return {
            key: identity
            for identity, key in self._wanted.identities().items()
            if identity not in self._uids or recorded[identity] != self._wanted.members[key]
        }

    def _removed(self) -> set[Identity]:
        """Return the recorded members that are no longer wanted; empty while an identity is unknown."""
        wanted = self._wanted.identities()
        return set() if len(wanted) < len(self._wanted.members) else set(self._recorded.identities()) - set(wanted)

    def _find_orphans(self) -> list[dict[str, Any]]:
        """Return live objects of the set that are no longer wanted; empty while an identity is unknown."""
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
        coming = [self._wanted.members[key] for key, item in self._changed().items() if item not in self._uids]
        return list(moves(self._wanted, self._orphans, coming))

    def _labelled(self) -> list[dict[str, Any]]:
        return self._members.labelled(self._kinds(), self._namespaces())

    def _kinds(self) -> set[tuple[str, str]]:
        """Return all kinds that the set has or had."""
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
        messages = [
            explain(self._wanted.identity(self._wanted.members[key]), error)
            for key, error in failed.items()
            if not isinstance(error, CancelledError)
        ]
        return messages + [f"{len(cancelled)} objects {CancelledError()}"] * bool(cancelled)
