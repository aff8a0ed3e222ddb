"""Taking objects out of the cluster: only what is still ours, never what is in use, not done until it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError
from jacquard.providers.objectset.claims import DEPENDENTS, claimed
from jacquard.providers.objectset.explaining import changed_meanwhile, explain
from jacquard.providers.objectset.inputs import Identity, ObjectSet
from jacquard.providers.objectset.session import Session, Tell

POLL_SECONDS = 0.5
"""Pause between two looks at what finalizers still hold."""
_NAMED = 3
"""Most objects that a line about waiting names."""
Bodies: TypeAlias = Iterable[Mapping[str, Any]]


def in_use(session: Session, owner: ObjectSet, bodies: Bodies) -> dict[Identity, str]:
    """Return which of the live objects must not be deleted, with the reason and the remedy in words.

    Raises:
        ApiError: The server refused to say what depends on them.
    """
    reasons = {owner.identity(body): claimed(body) for body in bodies}
    for kind in {(identity.group, identity.kind) for identity in reasons} & DEPENDENTS.keys():
        dependent = DEPENDENTS[kind]
        owners = {one.name: one for one in reasons if (one.group, one.kind) == kind}
        for body in session.api.list(dependent.api_version, dependent.kind):
            used, name = owners.get(dependent.owner_of(body)), body["metadata"]["name"]
            if used and (why := claimed(body)):
                reasons[used] = f"has {dependent.kind} {name}, which {why}"
    return {identity: why for identity, why in sorted(reasons.items()) if why}


def prune(
    session: Session,
    owner: ObjectSet,
    bodies: Bodies,
    *,
    look: Callable[[], Bodies],
    tell: Tell,
    timeout_seconds: float,
) -> dict[Identity, str]:
    """Delete live objects as they were seen, wait until they are gone, and return in words what is still there.

    Args:
        session: The cluster and threads to use; once those are cancelled, nothing more is deleted or waited for.
        owner: The set that the objects belong to.
        bodies: The objects as read; one that has changed since is left alone.
        look: Returns the set's objects that still exist.
        tell: Hears what is waited for.
        timeout_seconds: How long finalizers may hold them.
    """
    doomed = {owner.identity(body): body for body in bodies}

    def delete(body: Mapping[str, Any]) -> bool:
        metadata = body["metadata"]
        if metadata.get("deletionTimestamp"):
            return True
        return session.api.delete(owner.ref(body), uid=metadata["uid"], resource_version=metadata["resourceVersion"])

    outcomes = session.workers.run(delete, doomed)
    failed = {identity: _why(identity, error) for identity, error in outcomes.failed.items()}
    pending = {doomed[identity]["metadata"]["uid"]: identity for identity in outcomes.done}
    return failed | _wait(session, pending, look, tell, timeout_seconds)


def _wait(
    session: Session, pending: dict[str, Identity], look: Callable[[], Bodies], tell: Tell, seconds: float
) -> dict[Identity, str]:
    deadline, cancelled, told = time.monotonic() + seconds, session.workers.cancelled, ""
    live: dict[str, Mapping[str, Any]] = {}
    while pending and not cancelled.is_set():
        live = {body["metadata"]["uid"]: body for body in look()}
        pending = {uid: identity for uid, identity in pending.items() if uid in live}
        left = deadline - time.monotonic()
        if left <= 0:
            break
        line = _awaited({identity: live[uid] for uid, identity in pending.items()})
        if pending and line != told:
            tell(line)
        told = line
        cancelled.wait(min(POLL_SECONDS, left) if pending else 0)
    ended = "the run was cancelled" if cancelled.is_set() else f"{seconds:g} s"
    return {
        identity: f"{identity}: is being deleted but not gone after {ended}; held by {_holders(live.get(uid))}"
        for uid, identity in pending.items()
    }


def _why(identity: Identity, error: ProviderError) -> str:
    if isinstance(error, ApiError) and error.reason == "Conflict":
        return changed_meanwhile(identity, "deleted")
    return explain(identity, error)


def _holders(live: Mapping[str, Any] | None) -> str:
    finalizers = live["metadata"].get("finalizers") if live else None
    return ", ".join(finalizers or ()) or "its dependents"


def _awaited(live: Mapping[Identity, Mapping[str, Any]]) -> str:
    first = ", ".join(f"{identity} ({_holders(live[identity])})" for identity in sorted(live)[:_NAMED])
    more = f" and {len(live) - _NAMED} more" if len(live) > _NAMED else ""
    return f"waiting until {len(live)} are gone: {first}{more}"
