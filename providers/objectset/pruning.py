"""Taking objects out of the cluster: only what is still ours, never what is in use, not done until it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from providers.errors import ProviderError
from providers.kube import ApiError, ApiServer
from providers.objectset.claims import claimed
from providers.objectset.inputs import Identity, ObjectSet
from providers.objectset.words import explain
from providers.objectset.workers import Workers

POLL_SECONDS = 0.5
"""Pause between two looks at what finalizers still hold."""
Look: TypeAlias = Callable[[], Iterable[Mapping[str, Any]]]


def in_use(owner: ObjectSet, bodies: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words which of the live objects must not be deleted."""
    found = {owner.identity(body): claimed(body) for body in bodies}
    return [f"{identity} {found[identity]}; release and wipe it first" for identity in sorted(found) if found[identity]]


def prune(
    api: ApiServer,
    workers: Workers,
    owner: ObjectSet,
    bodies: Iterable[Mapping[str, Any]],
    *,
    look: Look,
    timeout_seconds: float,
) -> dict[Identity, str]:
    """Delete live objects as they were seen, wait until they are gone, and return in words what is still there.

    Args:
        api: The cluster.
        workers: Threads to use; once cancelled, nothing more is deleted or waited for.
        owner: The set that the objects belong to.
        bodies: The objects as read; one that has changed since is left alone.
        look: Returns the set's objects that still exist.
        timeout_seconds: How long finalizers may hold them.
    """
    doomed = {owner.identity(body): body for body in bodies}

    def delete(body: Mapping[str, Any]) -> bool:
        metadata = body["metadata"]
        if metadata.get("deletionTimestamp"):
            return True
        return api.delete(owner.ref(body), uid=metadata["uid"], resource_version=metadata["resourceVersion"])

    outcomes = workers.run(delete, doomed)
    failed = {identity: _why(identity, error) for identity, error in outcomes.failed.items()}
    pending = {doomed[identity]["metadata"]["uid"]: identity for identity in outcomes.done}
    return failed | _wait(workers, pending, look, timeout_seconds)


def _wait(workers: Workers, pending: dict[str, Identity], look: Look, seconds: float) -> dict[Identity, str]:
    deadline, cancelled = time.monotonic() + seconds, workers.cancelled
    live: dict[str, Mapping[str, Any]] = {}
    while pending and not cancelled.is_set():
        live = {body["metadata"]["uid"]: body for body in look()}
        pending = {uid: identity for uid, identity in pending.items() if uid in live}
        left = deadline - time.monotonic()
        if left <= 0:
            break
        cancelled.wait(min(POLL_SECONDS, left) if pending else 0)
    ended = "the run was cancelled" if cancelled.is_set() else f"{seconds:g} s"
    return {identity: _held(identity, live.get(uid), ended) for uid, identity in pending.items()}


def _why(identity: Identity, error: ProviderError) -> str:
    if isinstance(error, ApiError) and error.reason == "Conflict":
        return f"{identity}: changed while it was looked at, so it was not deleted; run again"
    return explain(identity, error)


def _held(identity: Identity, live: Mapping[str, Any] | None, ended: str) -> str:
    held = ", ".join(live["metadata"].get("finalizers") or ()) if live else ""
    return f"{identity}: is being deleted but not gone after {ended}; held by {held or 'its dependents'}"
