"""Queries API servers for errors that the vendor's Kubernetes provider does not report.

The vendor's provider silently drops a misspelt field of a built-in kind. For a custom kind, only the second change
after the misspelling fails. The provider reports that an object already exists only during creation. The stand-in
reports all these errors in previews.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from components.render.labels import FIELD_MANAGER
from components.render.manifest import Manifest, Rendered
from components.resources import child_name, type_token
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef, Unreachable

MAX_PARALLEL = 16
"""Maximum number of objects that are checked in parallel."""
_ELSEWHERE = "default"
"""Existing namespace, used in dry runs of objects whose namespace does not exist yet."""

Names: TypeAlias = frozenset[tuple[str, str]]
"""Resources as pairs of type and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectErrors:
    """Errors that an API server reports about objects."""

    unknown: tuple[str, ...] = ()
    """Objects with an unknown field."""
    foreign: tuple[str, ...] = ()
    """Existing objects that the stack did not create."""


def object_errors(api: ApiServer, rendered: Iterable[tuple[str, Iterable[Rendered]]], recorded: Names) -> ObjectErrors:
    """Return the errors that an API server reports about objects; use dry runs only.

    Members of object sets are skipped, because Jacquard's provider applies and checks them.

    Args:
        api: the API server.
        rendered: objects to apply to this API server, by name of their component.
        recorded: recorded objects of the stack.

    Raises:
        Unreachable: the API server does not answer.
    """
    wanted = [
        (item, (type_token(item), child_name(name, item)) in recorded)
        for name, items in rendered
        for item in items
        if isinstance(item, Manifest)
    ]

    def about(entry: tuple[Manifest, bool]) -> tuple[str, str]:
        item, ours = entry
        return _unknown(api, item), "" if ours else _foreign(api, item)

    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        texts = list(pool.map(about, wanted))
    return ObjectErrors(unknown=_nonempty(text for text, _ in texts), foreign=_nonempty(text for _, text in texts))


def _nonempty(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def _unknown(api: ApiServer, item: Manifest) -> str:
    error = _refusal(api, item)
    if error is not None and error.not_found and item.namespace and not isinstance(error, KindNotFound):
        metadata = {**item.body["metadata"], "namespace": _ELSEWHERE}
        error = _refusal(api, Manifest(body={**item.body, "metadata": metadata}, cluster=item.cluster))
    return f"{_place(item)}: {error.message}" if error is not None and error.undeclared_field else ""


def _refusal(api: ApiServer, item: Manifest) -> ApiError | None:
    """Return the reason why an object would be rejected, regardless of field ownership."""
    try:
        api.apply(item.body, field_manager=FIELD_MANAGER, dry_run=True, force=True)
    except Unreachable:
        raise
    except ApiError as error:
        return error
    return None


def _foreign(api: ApiServer, item: Manifest) -> str:
    try:
        body = api.get(ObjectRef.of(item.body))
    except KindNotFound:
        return ""
    if body is None or body["metadata"].get("deletionTimestamp"):
        return ""
    return f"{_place(item)} already exists outside this stack; import it, delete it, or choose another name"


def _place(item: Manifest) -> str:
    return f"{ObjectRef.of(item.body)} of cluster {item.cluster}"
