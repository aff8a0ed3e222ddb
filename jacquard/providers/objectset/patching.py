"""Applies fields to existing objects of other controllers. Never creates or deletes such objects.

These objects have no mark of the set, so pruning cannot find them; the set's parent lists them instead. Server-side
apply would create a missing object unless the request contains a uid. Each object is therefore read first.
"""

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
from jacquard.providers.objectset.patch_bodies import bodies, is_reported, is_unnecessary
from jacquard.providers.objectset.session import Session
from jacquard.providers.objectset.workers import CancelledError

POLL_SECONDS = 0.5
_NOT_OURS = ("apiVersion", "kind", "metadata")


class Patches:
    """The patches in one change of a set.

    Args:
        session: Session with the cluster.
        wanted: The wanted set.
        recorded: The set in the state.
        known: Patches that the set's parent lists.
        waiting: Objects, as text, that do not have the recorded fields.
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
        self._unless = {identity: unless for identity, (_, unless) in origins.items() if unless}
        self._former = (*recorded.patches.items(), *known.items())
        former = before | ObjectSet(wanted.name, wanted.namespace, {}, known).targets()
        self._dropped = {identity: body for identity, body in former.items() if identity not in targets}
        self.taken: list[str] = []
        """Fields that were (in a dry run: would be) taken from other managers, as text."""
        self.changed = tuple(sorted(map(str, self._pending | self._dropped)))
        """Objects, as text, that this change patches or resets."""
        self.absent: tuple[str, ...] = ()
        """Objects, as text, that did not exist during `apply`, because their controller had not created them yet, or
        that did not report yet whether they need the patch."""

    def former_and_wanted(self) -> dict[str, Any]:
        """Return the patches before and after this change; the parent lists both during the change."""
        merged, left = dict(self._wanted.patches), set(self._dropped)
        for key, patch in self._former:
            by_identity = {self._wanted.identity(body): body["metadata"]["name"] for body in bodies(patch)}
            names = [name for identity, name in by_identity.items() if identity in left]
            if names:
                merged[_free(key, merged)] = {**patch, "names": names}
                left -= by_identity.keys()
        return merged

    def apply(self, *, dry_run: bool = False) -> list[str]:
        """Apply the fields to existing objects and return the failures as messages.

        Raises:
            ApiError: The server rejected a read.
        """
        live = self._existing_pending() if dry_run else self._awaited()
        ready = {identity: identity for identity, body in live.items() if not body["metadata"].get("deletionTimestamp")}
        outcomes = self._session.workers.run(
            lambda identity: self._apply(identity, live[identity], dry_run=dry_run), ready
        )
        applied = {identity for identity, done in outcomes.done.items() if done}
        absent = self._pending.keys() - applied - outcomes.failed.keys()
        self.absent = tuple(sorted(map(str, absent)))
        return _explained(outcomes.failed)

    def _existing_pending(self) -> dict[Identity, dict[str, Any]]:
        versions = {identity: str(body["apiVersion"]) for identity, body in self._pending.items()}
        return existing(self._session, versions)

    def _awaited(self) -> dict[Identity, dict[str, Any]]:
        """Return the existing objects once all awaited objects exist, or their waiting times have ended."""
        begun, cancelled = time.monotonic(), self._session.workers.cancelled
        while True:
            live = self._existing_pending()
            missing = self._pending.keys() - live.keys()
            waits = [self._patience[identity] for identity in missing if identity in self._patience]
            left = max(waits, default=0.0) - (time.monotonic() - begun)
            if left <= 0 or cancelled.wait(min(POLL_SECONDS, left)):
                return live

    def give_back(self) -> list[str]:
        """Remove the set's fields from objects that are no longer patched, and return the failures as messages.

        Objects that another set of the program patches are skipped.
        """
        if not self._dropped:
            return []
        announced = self._session.announced
        announced.settle(self._session.workers.cancelled)
        versions = {
            identity: str(body["apiVersion"])
            for identity, body in self._dropped.items()
            if not announced.patches(self._wanted, identity)
        }
        live = existing(self._session, versions)
        outcomes = self._session.workers.run(
            lambda identity: self._give_back(live[identity]), {identity: identity for identity in live}
        )
        return _explained(outcomes.failed)

    def _apply(self, identity: Identity, live: Mapping[str, Any], *, dry_run: bool) -> bool:
        """Apply the fields to the object, if it needs them.

        Return False if the object does not report yet whether it needs them, or was deleted or replaced after the read.
        """
        unless = self._unless.get(identity)
        if unless and not is_reported(unless, live):
            return False
        if unless and is_unnecessary(self._pending[identity], unless, live):
            return True
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
        # Fields are only taken from the object version that is read here, not from a later version.
        now = api.get(ObjectRef.of(live)) or live
        body = _guarded(body, now, "uid", "resourceVersion")
        try:
            api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run)
        except ApiError as error:
            # The creator of an object also owns its empty lists. Conflicts on empty values are ignored.
            filled = [cause for cause in error.conflicts if not _is_empty(now, cause.field)]
            if not error.conflicts or not managers(filled) <= self._session.taking:
                raise
            api.apply(body, field_manager=FIELD_MANAGER, dry_run=dry_run, force=True)
            if filled:
                self.taken.append(f"{identity} {owned_fields(filled)}")

    def _give_back(self, live: Mapping[str, Any]) -> None:
        """Empty the set's fields by a merge patch, because an apply without them would leave null in required objects.

        Raises:
            ApiError: The server rejected the patch, or the object has changed after it was read.
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
    """Return the result of a forced dry-run apply of the set's fields to a live object, regardless of ownership."""
    return session.api.apply(_guarded(body, live, "uid"), field_manager=FIELD_MANAGER, dry_run=True, force=True)


def _free(key: str, taken: Collection[str]) -> str:
    while key in taken:
        key += "/former"
    return key


def _guarded(body: Mapping[str, Any], live: Mapping[str, Any], *marks: str) -> dict[str, Any]:
    """Return the body with marks of the live object's metadata, so that the request can change no other object."""
    return {**body, "metadata": {**body["metadata"], **{mark: live["metadata"][mark] for mark in marks}}}


def _explained(failed: Mapping[Identity, ProviderError]) -> list[str]:
    cancelled = sum(isinstance(error, CancelledError) for error in failed.values())
    messages = [
        changed_meanwhile(identity, "reset") if _is_stale(error) else explain(identity, error)
        for identity, error in sorted(failed.items())
        if not isinstance(error, CancelledError)
    ]
    return messages + [f"{cancelled} objects {CancelledError()}"] * bool(cancelled)


def _is_another(error: ApiError) -> bool:
    """Return whether an apply was rejected because the object was deleted or replaced."""
    return error.not_found or _is_stale(error) or any(cause.field == "metadata.uid" for cause in error.causes)


def _is_stale(error: ProviderError) -> bool:
    """Return whether an apply or patch failed a precondition."""
    return isinstance(error, ApiError) and error.reason == "Conflict" and not error.causes


def _is_empty(live: Mapping[str, Any], path: str) -> bool:
    """Return whether a field of a conflict, ``.spec.updates``, is an empty list or map."""
    return dig(live, *path.strip(".").split(".")) in ([], {})


def _emptied(ours: Any, live: Any) -> Any:
    """Return the merge patch that removes the set's part from a value: fields become null, list items are removed."""
    if isinstance(ours, Mapping) and isinstance(live, Mapping):
        return {key: _emptied(value, live.get(key)) for key, value in ours.items()}
    if isinstance(ours, list) and isinstance(live, list):
        return [item for item in live if item not in ours]
    return None
