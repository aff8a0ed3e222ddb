"""Making the cluster hold exactly the members of a set: first everything that forbids it, then apply, then prune."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from providers.errors import ProviderError
from providers.kube import ApiError, ApiServer, ObjectRef
from providers.objectset import applyset
from providers.objectset.inputs import Identity, ObjectSet
from providers.objectset.members import FIELD_MANAGER, Members, still_to_come
from providers.objectset.pruning import in_use, prune
from providers.objectset.words import explain
from providers.objectset.workers import CancelledError, Workers
from providers.rpc.values import UNKNOWN


class RefusedError(ProviderError):
    """Something forbids the change; nothing was sent that could alter the cluster."""

    def __init__(self, wanted: ObjectSet, reasons: Iterable[str]) -> None:
        lines = "\n  ".join(reasons)
        super().__init__(f"ObjectSet {wanted.id}: refused, nothing was changed:\n  {lines}")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a change, or would come of a previewed one."""

    uids: Mapping[str, Any]
    """By key; `UNKNOWN` in a preview for a member that is still to be created.

    After a change that was done in part, members with a uid are those that are in the cluster as the engine records
    them: it records new inputs for a new set and keeps old ones for a changed set. The next run applies all others.
    """
    problems: tuple[str, ...] = ()
    unchecked: int = 0
    """Members that a preview could not try: their kind or namespace is still to come."""


class Change:
    """One change of a set, from what is recorded (nothing, for a new set) to what is wanted.

    Making one reads the cluster: the parent, and what carries the set's label.

    Raises:
        ApiError: The server refused to answer.
    """

    def __init__(
        self,
        api: ApiServer,
        workers: Workers,
        wanted: ObjectSet,
        *,
        urn: str,
        recorded: ObjectSet | None = None,
        uids: Mapping[str, Any] | None = None,
    ) -> None:
        self._api = api
        self._workers = workers
        self._wanted = wanted
        self._urn = urn
        self._is_new = recorded is None
        self._recorded = recorded or ObjectSet(wanted.name, wanted.namespace, {})
        known = {identity: (uids or {}).get(key) for identity, key in self._recorded.identities().items()}
        self._uids = {identity: uid for identity, uid in known.items() if uid and uid is not UNKNOWN}
        self._members = Members(api, workers, wanted)
        self._parent = api.get(ObjectRef("v1", "ConfigMap", wanted.name, wanted.namespace))
        self._orphans = self._find_orphans()

    def preview(self, unknown: Collection[str] = ()) -> Result:
        """Try every changed member on the server without changing anything.

        Args:
            unknown: Keys of members with values that are known only later; they cannot be tried.

        Raises:
            RefusedError: With everything that forbids the change or that the server would refuse.
        """
        outcomes = self._members.apply((key for key in self._changed() if key not in unknown), dry_run=True)
        to_come = [key for key, error in outcomes.failed.items() if still_to_come(error)]
        refusals = self._refusals() + self._explained(
            {key: error for key, error in outcomes.failed.items() if key not in to_come}
        )
        if refusals:
            raise RefusedError(self._wanted, refusals)
        uids = dict.fromkeys(self._wanted.members, UNKNOWN) | self._known_uids(self._wanted.members)
        return Result(uids, unchecked=len(to_come))

    def run(self, timeout_seconds: float) -> Result:
        """Apply every changed member, then prune; what fails is in the result, and nothing is undone.

        Args:
            timeout_seconds: How long finalizers may hold what is pruned.

        Raises:
            RefusedError: With everything that forbids the change; nothing was sent.
        """
        refusals = self._refusals()
        if refusals:
            raise RefusedError(self._wanted, refusals)
        self._write_parent(self._kinds(), self._namespaces())
        changed = self._changed()
        outcomes = self._members.apply(changed)
        applied = {key: live["metadata"]["uid"] for key, live in outcomes.done.items()}
        problems = self._explained(outcomes.failed) or self._prune(timeout_seconds)
        uids = self._known_uids(self._wanted.members)
        if problems and not self._is_new:
            return Result({key: uid for key, uid in uids.items() if key not in changed}, tuple(problems))
        return Result(uids | applied, tuple(problems))

    def _prune(self, timeout_seconds: float) -> list[str]:
        """Delete what is not wanted and return in words what went wrong."""
        api, workers, orphans = self._api, self._workers, self._orphans
        try:
            held = prune(api, workers, self._wanted, orphans, look=self._owned, timeout_seconds=timeout_seconds)
            if not held:
                self._write_parent(self._wanted.versions(), self._wanted.namespaces())
        except ProviderError as error:
            return [str(error)]
        return [held[identity] for identity in sorted(held)]

    def left_alone(self) -> list[str]:
        """Return in words the removed members that no longer carry the set's label; they are not deleted."""
        strays = self._removed() - {self._recorded.identity(body) for body in self._orphans}
        keys = {identity: key for identity, key in self._recorded.identities().items() if identity in strays}
        found = Members(self._api, self._workers, self._recorded).look(keys.values()).done
        return [f"{identity}" for identity, key in sorted(keys.items()) if found.get(key) is not None]

    def _refusals(self) -> list[str]:
        reasons = []
        foreign = None if self._parent is None else applyset.foreign(self._parent)
        if foreign:
            reasons.append(f"ConfigMap {self._wanted.id} {foreign}; choose another setName or remove it")
        maker = applyset.maker(self._parent) if self._is_new and self._parent and not foreign else None
        if maker not in (None, self._urn):
            remedy = "choose another setName, or give this resource that one as an alias"
            reasons.append(f"ConfigMap {self._wanted.id} is the parent of the set of {maker}; {remedy}")
        strangers = self._members.strangers({item: self._uids.get(item) for item in self._changed().values()})
        return reasons + strangers + in_use(self._wanted, self._orphans)

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
        return [body for body in self._owned() if self._wanted.identity(body) not in wanted]

    def _owned(self) -> list[dict[str, Any]]:
        return self._members.owned_objects(self._kinds(), self._namespaces())

    def _kinds(self) -> set[tuple[str, str]]:
        """Return every kind that the set has or had."""
        parent = applyset.contents(self._parent)[0] if self._parent else set()
        return parent | set(self._wanted.versions()) | set(self._recorded.versions())

    def _namespaces(self) -> set[str]:
        parent = applyset.contents(self._parent)[1] if self._parent else set()
        return parent | self._wanted.namespaces() | self._recorded.namespaces()

    def _write_parent(self, kinds: Iterable[tuple[str, str]], namespaces: Iterable[str]) -> None:
        body = applyset.parent(self._wanted.name, self._wanted.namespace, kinds, namespaces, urn=self._urn)
        if self._parent and applyset.same(self._parent, body):
            return
        try:
            self._parent = self._api.apply(body, field_manager=FIELD_MANAGER)
        except ApiError as error:
            identity = Identity("", "ConfigMap", self._wanted.namespace, self._wanted.name)
            raise ProviderError(explain(identity, error)) from None

    def _known_uids(self, members: Mapping[str, Any]) -> dict[str, Any]:
        identities = ObjectSet(self._wanted.name, self._wanted.namespace, members).identities()
        return {key: self._uids[identity] for identity, key in identities.items() if identity in self._uids}

    def _explained(self, failed: Mapping[str, ProviderError]) -> list[str]:
        cancelled = [key for key, error in failed.items() if isinstance(error, CancelledError)]
        words = [
            explain(self._wanted.identity(self._wanted.members[key]), error)
            for key, error in failed.items()
            if not isinstance(error, CancelledError)
        ]
        return words + [f"{len(cancelled)} objects {CancelledError()}"] * bool(cancelled)
