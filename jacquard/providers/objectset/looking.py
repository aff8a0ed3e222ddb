"""Determines the existing objects of a collection, by single reads or by a list, whichever is cheaper."""

from collections.abc import Mapping
from typing import Any

from jacquard.providers.kube import KindNotFound, ObjectRef
from jacquard.providers.objectset.inputs import Identity
from jacquard.providers.objectset.session import Session

LIST_FROM = 64
"""Minimum number of objects of one kind and namespace for which a list is cheaper than single reads."""


def existing(
    session: Session, wanted: Mapping[Identity, str], *, metadata_only: bool = False
) -> dict[Identity, dict[str, Any]]:
    """Return the existing objects among ``wanted``, whose values are the apiVersions to read.

    Raises:
        ApiError: The server rejected the request.
    """
    objects: dict[Identity, dict[str, Any]] = {}
    places: dict[tuple[str, str, str], list[Identity]] = {}
    for identity, version in wanted.items():
        places.setdefault((version, identity.kind, identity.namespace), []).append(identity)
    few: dict[Identity, ObjectRef] = {}
    for (version, kind, namespace), identities in places.items():
        if len(identities) < LIST_FROM:
            few |= {identity: ObjectRef(version, kind, identity.name, namespace) for identity in identities}
            continue
        live = _listed(session, version, kind, namespace, metadata_only=metadata_only)
        objects |= {identity: live[identity.name] for identity in identities if identity.name in live}
    outcomes = session.workers.run(lambda ref: _read(session, ref), few)
    for error in outcomes.failed.values():
        raise error
    return objects | {identity: body for identity, body in outcomes.done.items() if body is not None}


def _listed(
    session: Session, version: str, kind: str, namespace: str, *, metadata_only: bool
) -> dict[str, dict[str, Any]]:
    try:
        bodies = session.api.list(version, kind, namespace=namespace, metadata_only=metadata_only)
    except KindNotFound:
        return {}
    return {body["metadata"]["name"]: body for body in bodies}


def _read(session: Session, ref: ObjectRef) -> dict[str, Any] | None:
    try:
        return session.api.get(ref)
    except KindNotFound:
        return None
