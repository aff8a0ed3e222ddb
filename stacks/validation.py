"""What the vendor's Kubernetes provider keeps to itself, asked of the API servers by the program.

That provider drops a misspelt field of a kind of Kubernetes' own in silence, and of a custom kind only the change after
the next fails; and that an object is there already it tells when it makes it. The stand-in tells all of it in its
previews.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from components.render.labels import FIELD_MANAGER
from components.render.manifest import Manifest, Rendered
from components.resources import child_name, type_token
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef, Unreachable

SIDE_BY_SIDE = 16
"""Most objects that are asked about at the same time."""
_ELSEWHERE = "default"
"""A namespace that is there, for objects of one that is still to come."""

Names: TypeAlias = frozenset[tuple[str, str]]
"""Types and names of resources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What an API server says of objects."""

    unknown: tuple[str, ...] = ()
    """Objects with a field that their kind does not have."""
    foreign: tuple[str, ...] = ()
    """Objects that are there, and that the stack did not make."""


def ask(api: ApiServer, rendered: Iterable[tuple[str, Iterable[Rendered]]], recorded: Names) -> Told:
    """Return what an API server says of objects; nothing is changed.

    Objects of sets are left out: their provider is ours.

    Args:
        api: the API server.
        rendered: what is to be applied there, by the name of its component.
        recorded: what the stack has already.

    Raises:
        Unreachable: it does not answer.
    """
    wanted = [
        (item, (type_token(item), child_name(name, item)) in recorded)
        for name, items in rendered
        for item in items
        if isinstance(item, Manifest)
    ]

    def about(one: tuple[Manifest, bool]) -> tuple[str, str]:
        item, ours = one
        return _unknown(api, item), "" if ours else _foreign(api, item)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = list(pool.map(about, wanted))
    return Told(unknown=_some(text for text, _ in found), foreign=_some(text for _, text in found))


def _some(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def _unknown(api: ApiServer, item: Manifest) -> str:
    error = _refusal(api, item)
    if error is not None and error.not_found and item.namespace and not isinstance(error, KindNotFound):
        metadata = {**item.body["metadata"], "namespace": _ELSEWHERE}
        error = _refusal(api, Manifest(body={**item.body, "metadata": metadata}, cluster=item.cluster))
    return f"{_place(item)}: {error.message}" if error is not None and error.undeclared_field else ""


def _refusal(api: ApiServer, item: Manifest) -> ApiError | None:
    """Return why an object would be refused; whose fields they are matters later."""
    try:
        api.apply(item.body, field_manager=FIELD_MANAGER, dry_run=True, force=True)
    except Unreachable:
        raise
    except ApiError as error:
        return error
    return None


def _foreign(api: ApiServer, item: Manifest) -> str:
    try:
        found = api.get(ObjectRef.of(item.body))
    except KindNotFound:
        return ""
    if found is None or found["metadata"].get("deletionTimestamp"):
        return ""
    return (
        f"{_place(item)} already exists, and this stack did not make it; import it, delete it, or choose another name"
    )


def _place(item: Manifest) -> str:
    return f"{ObjectRef.of(item.body)} of cluster {item.cluster}"
