"""Objects that other controllers make: our fields are applied to those that are there. None is made, none is deleted.

They carry no mark of the set, so nothing that prunes can find them; the set's parent says which they are. Server-side
apply makes what is missing unless the object it is given has a uid, so each is looked at first.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.kube.objects import dig
from jacquard.providers.objectset.applyset import FIELD_MANAGER
from jacquard.providers.objectset.explaining import changed_meanwhile, explain, managers, owned_fields
from jacquard.providers.objectset.importing import declared
from jacquard.providers.objectset.inputs import Identity, ObjectSet
from jacquard.providers.objectset.looking import existing
from jacquard.providers.objectset.patch_bodies import bodies
from jacquard.providers.objectset.session import Session
from jacquard.providers.objectset.workers import CancelledError

POLL_SECONDS = 0.5
_NOT_OURS = ("apiVersion", "kind", "metadata")


class Patches:
    """What one change of a set has to do with objects that other controllers make.

    Args:
        session: The cluster.
        wanted: The set as it is to be.
        recorded: The set as the state has it.
        known: What the set's parent says that the set patches.
        waiting: Objects, in words, that do not have their fields as recorded.
    """

    def __init__(
        self,
        session: Session,
        wanted: ObjectSet,
        *,
        recorded: ObjectSet,
        known: Mapping[str, Any],
        waiting: Collection[str],
    ) -> None:
        self._session = session
        self._wanted = wanted
        targets, before = wanted.targets(), recorded.targets()
        origins, former_origins = wanted.origins(), recorded.origins()
        self._pending = {
            identity: body
            for identity, body in targets.items()
            if str(identity) in waiting
            or before.get(identity) != body
            or former_origins.get(identity) != origins[identity]
        }
        self._patience = wanted.patience()
        self._former = (*recorded.patches.items(), *known.items())
        former = before | ObjectSet(wanted.name, wanted.namespace, {}, known).targets()
        self._dropped = {identity: body for identity, body in former.items() if identity not in targets}
        self.taken: list[str] = []
        """Fields that were taken from other managers, or would be by a dry-run, in words."""
        self.changed = tuple(sorted(map(str, self._pending | self._dropped)))
        """Objects, in words, that this change is about."""
        self.absent: tuple[str, ...] = ()
        """Those, in words, that `apply` has not found; whoever makes them has not done so."""

    def former_and_wanted(self) -> dict[str, Any]:
        """Return what the set patches before or after this change, as the parent says it while the change is made."""
        found, left = dict(self._wanted.patches), set(self._dropped)
        for key, patch in self._former:
            named = {self._wanted.identity(body): body["metadata"]["name"] for body in bodies(patch)}
            names = [name for identity, name in named.items() if identity in left]
            if names:
                found[_free(key, found)] = {**patch, "names": names}
                left -= named.keys()
        return found

    def apply(self, *, dry_run: bool = False) -> list[str]:
        """Apply our fields to the objects that are there and return in words what went wrong.

        Raises:
            ApiError: The server refused to say what is there.
        """
        live = self._pending_there() if dry_run else self._awaited()
        ready = {one: one for one, body in live.items() if not body["metadata"].get("deletionTimestamp")}
        outcomes = self._session.workers.run(lambda one: self._apply(one, live[one], dry_run=dry_run), ready)
        applied = {one for one, done in outcomes.done.items() if done}
        self.absent = tuple(sorted(str(one) for one in self._pending.keys() - applied - outcomes.failed.keys()))
        return _explained(outcomes.failed)

    def _pending_there(self) -> dict[Identity, dict[str, Any]]:
        return existing(self._session, {one: str(body["apiVersion"]) for one, body in self._pending.items()})

    def _awaited(self) -> dict[Identity, dict[str, Any]]:
        """Return what is there once all are that are to be soon, or nobody waits any longer."""
        begun, cancelled = time.monotonic(), self._session.workers.cancelled
        while True:
            live = self._pending_there()
            waits = [self._patience[one] for one in self._pending.keys() - live.keys() if one in self._patience]
            left = max(waits, default=0.0) - (time.monotonic() - begun)
            if left <= 0 or cancelled.wait(min(POLL_SECONDS, left)):
                return live

    def give_back(self) -> list[str]:
        """Take our fields off objects that are no longer wanted and return in words what went wrong.

        One that another set of the program patches is left to that set.
        """
        if not self._dropped:
            return []
        announced = self._session.announced
        announced.settle(self._session.workers.cancelled)
        left = {one: body for one, body in self._dropped.items() if not announced.patches(self._wanted, one)}
        live = existing(self._session, {one: str(body["apiVersion"]) for one, body in left.items()})
        outcomes = self._session.workers.run(lambda one: self._give_back(live[one]), {one: one for one in live})
        return _explained(outcomes.failed)

    def _apply(self, identity: Identity, live: Mapping[str, Any], *, dry_run: bool) -> bool:
        """Return whether the object has our fields; it has not when it went, or changed, while it was looked at."""
        try:
            self._fill(identity, live, dry_run=dry_run)
        except ApiError as error:
            if _is_another(error):
                return False
            raise
        return True

    def _fill(self, identity: Identity, live: Mapping[str, Any], *, dry_run: bool) -> None:
        body, api = self._pending[identity], self._session.api
        try:
            api.apply(_guarded(body, live, "uid"), field_manager=FIELD_MANAGER, dry_run=dry_run)
        except ApiError as error:
            if not error.conflicts:
                raise
        else:
            return
        # What is taken is taken from the object as it is seen here, and from no later one.
        now = api.get(ObjectRef.of(live)) or live
        body = _guarded(body, now, "uid", "resourceVersion")
        try:
            api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run)
        except ApiError as error:
            # Whoever made the object owns its empty lists; an empty value is there to be filled.
            filled = [cause for cause in error.conflicts if not _is_empty(now, cause.field)]
            if not error.conflicts or not managers(filled) <= self._session.taking:
                raise
            api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run, force=True)
            if filled:
                self.taken.append(f"{identity} {owned_fields(filled)}")

    def _give_back(self, live: Mapping[str, Any]) -> None:
        """Empty the fields that are ours, by a merge: an apply without them would leave null where an object must be.

        Raises:
            ApiError: The server refused, or the object has changed since it was looked at.
        """
        ours = {key: value for key, value in declared(live, alone=True).items() if key not in _NOT_OURS}
        if not ours:
            return
        try:
            patch = _guarded({**_emptied(ours, live), "metadata": {}}, live, "uid", "resourceVersion")
            self._session.api.patch(ObjectRef.of(live), patch, field_manager=FIELD_MANAGER)
        except ApiError as error:
            if not error.not_found:
                raise


def try_over(session: Session, body: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a live object would be if our fields were applied to it now, whoever owns them."""
    return session.api.apply(_guarded(body, live, "uid"), field_manager=FIELD_MANAGER, dry_run=True, force=True)


def _free(key: str, taken: Collection[str]) -> str:
    while key in taken:
        key += "/former"
    return key


def _guarded(body: Mapping[str, Any], live: Mapping[str, Any], *marks: str) -> dict[str, Any]:
    """Return what to apply to the live object with these marks of its metadata, and to no other one."""
    return {**body, "metadata": {**body["metadata"], **{mark: live["metadata"][mark] for mark in marks}}}


def _explained(failed: Mapping[Identity, ProviderError]) -> list[str]:
    cancelled = sum(isinstance(error, CancelledError) for error in failed.values())
    words = [
        changed_meanwhile(one, "given back") if _is_stale(error) else explain(one, error)
        for one, error in sorted(failed.items())
        if not isinstance(error, CancelledError)
    ]
    return words + [f"{cancelled} objects {CancelledError()}"] * bool(cancelled)


def _is_another(error: ApiError) -> bool:
    """Return whether an apply was refused because the object it was meant for is gone, or another one by now."""
    return error.not_found or _is_stale(error) or any(cause.field == "metadata.uid" for cause in error.causes)


def _is_stale(error: ProviderError) -> bool:
    """Return whether a precondition did not hold."""
    return isinstance(error, ApiError) and error.reason == "Conflict" and not error.causes


def _is_empty(live: Mapping[str, Any], path: str) -> bool:
    """Return whether a field of a conflict, ``.spec.updates``, is an empty list or map."""
    return dig(live, *path.strip(".").split(".")) in ([], {})


def _emptied(ours: Any, live: Any) -> Any:
    """Return the merge patch that takes our part out of a value: no field, an item less, a list that stays."""
    if isinstance(ours, Mapping) and isinstance(live, Mapping):
        return {key: _emptied(value, live.get(key)) for key, value in ours.items()}
    if isinstance(ours, list) and isinstance(live, list):
        return [item for item in live if item not in ours]
    return None
