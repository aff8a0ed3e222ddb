"""Transfer of field ownership at the API server, and its preview."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.objects import takeover
from jacquard.lab.standins.kubernetes.objects.takeover import Move
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_CONFLICT = 409
_ATTEMPTS = 10
"""A busy controller may write a status between a read and a patch, but not ten times in a row."""
_OTHER = re.compile(r'conflict with "([^"]+)"')


def take_over(api: ApiServer, ref: ObjectRef, name: str, declared: Iterable[Mapping[str, Any]]) -> Move | None:
    """Move the ownership of fields that the vendor's provider or kubectl wrote to ``name``, without changing values.

    Returns the transfer, or None if no field moves.

    Args:
        api: the API server.
        ref: the object; it may be missing.
        name: the field manager of the following apply.
        declared: the inputs before and after the change.

    Raises:
        ApiError: the API server rejects the patch.
    """
    bodies = tuple(declared)
    for attempt in range(_ATTEMPTS):
        live = api.get(ref)
        move = takeover.moved(live, name, bodies) if live else None
        if live is None or move is None:
            return None
        version = live["metadata"]["resourceVersion"]
        values = {"/metadata/managedFields": move.entries, "/metadata/resourceVersion": version}
        patch = [{"op": "replace", "path": path, "value": value} for path, value in values.items()]
        try:
            api.patch(ref, patch, kind="json", field_manager=name)
        except ApiError as error:
            if error.status != _CONFLICT or attempt == _ATTEMPTS - 1:
                raise
        else:
            return move
    return None


def foresee(
    api: ApiServer,
    live: Mapping[str, Any],
    body: Mapping[str, Any],
    name: str,
    move: Move | None,
    *,
    force: bool,
) -> dict[str, Any]:
    """Return the object as it would be after an update, without changing the object.

    A dry-run apply cannot include a planned transfer of ownership. If fields have to move, the resulting object is
    therefore sent as a dry-run replace, after a check for conflicts with other field managers.

    Args:
        api: the API server.
        live: the current object.
        body: the inputs to apply.
        name: the field manager.
        move: the transfer before the apply; None if no field moves.
        force: whether the apply also takes fields of other managers.

    Raises:
        ApiError: the API server would reject the update.
    """
    try:
        answer = api.apply(body, field_manager=name, dry_run=True, force=force)
    except ApiError as error:
        others = {other for cause in error.conflicts for other in _OTHER.findall(cause.message)}
        blocked = error.conflicts and not all(takeover.takes_from(other, name) for other in others)
        if move is None or blocked or error.undeclared_field:
            raise
    else:
        if move is None:
            return answer
    return api.replace(takeover.applied(live, body, move), field_manager=name, dry_run=True)
