"""Deletes a whole set from the cluster."""

from collections.abc import Mapping
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ObjectRef
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.converge import RefusedError
from jacquard.providers.objectset.inputs import ObjectSet
from jacquard.providers.objectset.members import Members, marked
from jacquard.providers.objectset.patching import Patches
from jacquard.providers.objectset.pruning import in_use, prune
from jacquard.providers.objectset.session import Session, Tell


def remove(session: Session, recorded: ObjectSet, *, tell: Tell, timeout_seconds: float) -> list[str]:
    """Delete all members that still have the set's marks, wait for their deletion, then delete the parent.

    Finally, remove the set's fields from existing objects of other controllers.

    Return the recorded members that exist without the set's marks; they are not deleted.

    Args:
        session: Session with the cluster.
        recorded: The recorded set; members that are not recorded are found by their label.
        tell: Shows a progress message.
        timeout_seconds: Time limit for finalizers of members.

    Raises:
        RefusedError: A member is in use, or another set of the program wants it and has not adopted it yet; nothing was
            deleted.
        ProviderError: Some members still exist; another removal continues.
    """
    ref = ObjectRef("v1", "ConfigMap", recorded.name, recorded.namespace)
    parent = session.api.get(ref)
    ours = parent is not None and applyset.foreign(parent) is None
    kinds, namespaces = applyset.contents(parent) if parent and ours else (set(), set())
    kinds, namespaces = kinds | set(recorded.versions()), namespaces | recorded.namespaces()
    members = Members(session, recorded)
    owned = [body for body in members.labelled(kinds, namespaces) if marked(body)]
    used = in_use(session, recorded, owned)
    if used:
        raise RefusedError(recorded, (f"{identity} {reason}" for identity, reason in used.items()))
    takers = {identity: session.announced.taker(recorded, identity) for identity in map(recorded.identity, owned)}
    if any(takers.values()):
        reason = "is wanted by the set {}, which has not adopted it yet; run again after an up of that set"
        raise RefusedError(
            recorded, (f"{identity} {reason.format(taker)}" for identity, taker in takers.items() if taker)
        )
    rest = members.look(key for identity, key in recorded.identities().items() if identity not in takers)
    remaining = prune(
        session,
        recorded,
        owned,
        look=lambda: members.labelled(kinds, namespaces, metadata_only=True),
        tell=tell,
        timeout_seconds=timeout_seconds,
    )
    if remaining:
        lines = "\n  ".join(remaining[identity] for identity in sorted(remaining))
        msg = f"ObjectSet {recorded.id}: {len(remaining)} of {len(owned)} members still exist:\n  {lines}"
        raise ProviderError(msg)
    _give_back(session, recorded, applyset.patches(parent) if parent and ours else {})
    if parent and ours:
        metadata = parent["metadata"]
        session.api.delete(ref, uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    others = [body for body in rest.done.values() if body is not None]
    return [str(recorded.identity(body)) for body in others if not applyset.of_another(body, recorded.applyset)]


def _give_back(session: Session, recorded: ObjectSet, known: Mapping[str, Any]) -> None:
    empty = ObjectSet(recorded.name, recorded.namespace, {})
    problems = Patches(session, empty, recorded=recorded, known=known, waiting=()).give_back()
    if problems:
        lines = "\n  ".join(problems)
        msg = f"ObjectSet {recorded.id}: {len(problems)} problem(s); another removal continues from here:\n  {lines}"
        raise ProviderError(msg)
