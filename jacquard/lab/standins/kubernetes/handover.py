"""A take-over of fields at the API server, and what it would come to."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.objects import takeover
from jacquard.lab.standins.kubernetes.objects.takeover import Move
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_CONFLICT = 409
_ATTEMPTS = 10
"""A controller that is at work writes a status between a look and a patch, but not ten times running."""
_OTHER = re.compile(r'conflict with "([^"]+)"')


def take_over(api: ApiServer, ref: ObjectRef, name: str, declared: Iterable[Mapping[str, Any]]) -> Move | None:
    """Move to ``name`` what the vendor's provider or kubectl wrote into an object; no value changes.

    Returns what was moved, None for nothing.

    Args:
        api: the API server.
        ref: the object; that it is not there is no problem.
        name: the field manager that will apply.
        declared: the inputs before and after the change.

    Raises:
        ApiError: the API server refuses.
    """
    bodies = tuple(declared)
    for attempt in range(_ATTEMPTS):
        found = api.get(ref)
        move = takeover.moved(found, name, bodies) if found else None
        if found is None or move is None:
            return None
        version = found["metadata"]["resourceVersion"]
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
    """Return what an update would make of an object, without changing it.

    A dry run cannot apply after a take-over that is only planned. So the object that this would lead to is put to the
    API server whole, after a look whether fields of somebody else are in the way.

    Args:
        api: the API server.
        live: the object as it is.
        body: what will be applied.
        name: the field manager.
        move: what has to be taken over first; None for nothing.
        force: whether fields of others are taken too.

    Raises:
        ApiError: the API server would refuse.
    """
    try:
        answer = api.apply(body, field_manager=name, dry_run=True, force=force)
    except ApiError as error:
        others = {found for cause in error.conflicts for found in _OTHER.findall(cause.message)}
        blocked = error.conflicts and not all(takeover.takes_from(other, name) for other in others)
        if move is None or blocked or error.undeclared_field:
            raise
    else:
        if move is None:
            return answer
    return api.replace(takeover.applied(live, body, move), field_manager=name, dry_run=True)
