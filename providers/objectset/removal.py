"""Taking a whole set out of the cluster."""

from __future__ import annotations

from dataclasses import dataclass

from providers.errors import ProviderError
from providers.kube import ApiServer, ObjectRef
from providers.objectset import applyset
from providers.objectset.converge import RefusedError
from providers.objectset.inputs import ObjectSet
from providers.objectset.members import Members
from providers.objectset.pruning import in_use, prune
from providers.objectset.workers import Workers


@dataclass(frozen=True, slots=True)
class Removal:
    """What a removal did not touch."""

    left_alone: list[str]
    """Recorded members that exist but no longer carry the set's label."""


def remove(api: ApiServer, workers: Workers, recorded: ObjectSet, *, timeout_seconds: float) -> Removal:
    """Delete every member that still carries the set's label, wait until they are gone, then delete the parent.

    Args:
        api: The cluster.
        workers: Threads to use.
        recorded: The set as it was recorded; members that it has forgotten are found by their label.
        timeout_seconds: How long finalizers may hold a member.

    Raises:
        RefusedError: A member is in use; nothing was deleted.
        ProviderError: Some members are still there; a further removal goes on.
    """
    ref = ObjectRef("v1", "ConfigMap", recorded.name, recorded.namespace)
    parent = api.get(ref)
    ours = parent is not None and applyset.foreign(parent) is None
    kinds, namespaces = applyset.contents(parent) if parent and ours else (set(), set())
    kinds, namespaces = kinds | set(recorded.versions()), namespaces | recorded.namespaces()
    members = Members(api, workers, recorded)
    owned = members.owned_objects(kinds, namespaces)
    used = in_use(recorded, owned)
    if used:
        raise RefusedError(recorded, used)
    gone = {recorded.identity(body) for body in owned}
    rest = members.look(key for identity, key in recorded.identities().items() if identity not in gone)
    held = prune(
        api,
        workers,
        recorded,
        owned,
        look=lambda: members.owned_objects(kinds, namespaces),
        timeout_seconds=timeout_seconds,
    )
    if held:
        lines = "\n  ".join(held[identity] for identity in sorted(held))
        msg = f"ObjectSet {recorded.id}: {len(held)} of {len(owned)} members are still there:\n  {lines}"
        raise ProviderError(msg)
    if parent and ours:
        metadata = parent["metadata"]
        api.delete(ref, uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    return Removal([str(recorded.ref(body)) for body in rest.done.values() if body is not None])
