"""Deletes members that have the set's marks and are not in use, and waits for their deletion."""

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
"""Pause between two reads of objects with finalizers."""
_NAMED = 3
"""Maximum number of objects listed in a message about waiting."""
Bodies: TypeAlias = Iterable[Mapping[str, Any]]


def in_use(session: Session, owner: ObjectSet, bodies: Bodies) -> dict[Identity, str]:
    """Return the live objects that must not be deleted, with the reason and the remedy.

    Raises:
        ApiError: The server rejected a read of their dependents.
    """
    reasons = {owner.identity(body): claimed(body) for body in bodies}
    for kind in {(identity.group, identity.kind) for identity in reasons} & DEPENDENTS.keys():
        dependent = DEPENDENTS[kind]
        owners = {identity.name: identity for identity in reasons if (identity.group, identity.kind) == kind}
        for body in session.api.list(dependent.api_version, dependent.kind):
            used, name = owners.get(dependent.owner_of(body)), body["metadata"]["name"]
            if used and (reason := claimed(body)):
                reasons[used] = f"has {dependent.kind} {name}, which {reason}"
    return {identity: reason for identity, reason in sorted(reasons.items()) if reason}


def prune(
    session: Session,
    owner: ObjectSet,
    bodies: Bodies,
    *,
    look: Callable[[], Bodies],
    tell: Tell,
    timeout_seconds: float,
) -> dict[Identity, str]:
    """Delete live objects unless they have changed, wait, and return the remaining objects with messages.

    Args:
        session: Cluster and threads; after cancellation nothing more is deleted or awaited.
        owner: The set of the objects.
        bodies: The objects as read; an object that has changed since the read is not deleted.
        look: Returns the set's objects that still exist.
        tell: Shows a progress message.
        timeout_seconds: Time limit for finalizers.
    """
    targets = {owner.identity(body): body for body in bodies}

    def delete(body: Mapping[str, Any]) -> bool:
        metadata = body["metadata"]
        if metadata.get("deletionTimestamp"):
            return True
        return session.api.delete(owner.ref(body), uid=metadata["uid"], resource_version=metadata["resourceVersion"])

    outcomes = session.workers.run(delete, targets)
    failed = {identity: _reason(identity, error) for identity, error in outcomes.failed.items()}
    pending = {targets[identity]["metadata"]["uid"]: identity for identity in outcomes.done}
    return failed | _wait(session, pending, look, tell, timeout_seconds)


def _wait(
    session: Session, pending: dict[str, Identity], look: Callable[[], Bodies], tell: Tell, seconds: float
) -> dict[Identity, str]:
    deadline, cancelled, shown = time.monotonic() + seconds, session.workers.cancelled, ""
    live: dict[str, Mapping[str, Any]] = {}
    while pending and not cancelled.is_set():
        live = {body["metadata"]["uid"]: body for body in look()}
        pending = {uid: identity for uid, identity in pending.items() if uid in live}
        left = deadline - time.monotonic()
        if left <= 0:
            break
        line = _awaited({identity: live[uid] for uid, identity in pending.items()})
        if pending and line != shown:
            tell(line)
        shown = line
        cancelled.wait(min(POLL_SECONDS, left) if pending else 0)
    ended = "the run was cancelled" if cancelled.is_set() else f"{seconds:g} s"
    return {
        identity: f"{identity}: is still being deleted after {ended}; blocked by {_holders(live.get(uid))}"
        for uid, identity in pending.items()
    }


def _reason(identity: Identity, error: ProviderError) -> str:
    if isinstance(error, ApiError) and error.reason == "Conflict":
        return changed_meanwhile(identity, "deleted")
    return explain(identity, error)


def _holders(live: Mapping[str, Any] | None) -> str:
    finalizers = live["metadata"].get("finalizers") if live else None
    return ", ".join(finalizers or ()) or "its dependents"


def _awaited(live: Mapping[Identity, Mapping[str, Any]]) -> str:
    first = ", ".join(f"{identity} ({_holders(live[identity])})" for identity in sorted(live)[:_NAMED])
    more = f" and {len(live) - _NAMED} more" if len(live) > _NAMED else ""
    return f"waiting for deletion: {first}{more}"
