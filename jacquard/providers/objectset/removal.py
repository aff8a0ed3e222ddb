"""Taking a whole set out of the cluster."""

from __future__ import annotations

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
    """Delete every member that still carries the set's marks, wait until they are gone, then delete the parent.

    Objects of other controllers that are still there then get back the fields that were applied to them.

    Return the recorded members that exist and are not known to be ours any more; they are left alone.

    Args:
        session: The cluster.
        recorded: The set as it was recorded; members that it has forgotten are found by their label.
        tell: Hears what is waited for.
        timeout_seconds: How long finalizers may hold a member.

    Raises:
        RefusedError: A member is in use, or another set of the program wants it and has not got it; nothing was
            deleted.
        ProviderError: Some members are still there; a further removal goes on.
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
        raise RefusedError(recorded, (f"{identity} {why}" for identity, why in used.items()))
    takers = {one: session.announced.taker(recorded, one) for one in map(recorded.identity, owned)}
    if any(takers.values()):
        still = "is wanted by the set {} and not there yet; run again once that set is up"
        raise RefusedError(recorded, (f"{one} {still.format(taker)}" for one, taker in takers.items() if taker))
    rest = members.look(key for identity, key in recorded.identities().items() if identity not in takers)
    held = prune(
        session,
        recorded,
        owned,
        look=lambda: members.labelled(kinds, namespaces, metadata_only=True),
        tell=tell,
        timeout_seconds=timeout_seconds,
    )
    if held:
        lines = "\n  ".join(held[identity] for identity in sorted(held))
        msg = f"ObjectSet {recorded.id}: {len(held)} of {len(owned)} members are still there:\n  {lines}"
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
        msg = f"ObjectSet {recorded.id}: {len(problems)} problem(s); a further removal goes on from here:\n  {lines}"
        raise ProviderError(msg)
