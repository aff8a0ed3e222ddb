"""Differences between two sets of properties, with Pulumi's property paths."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jacquard.providers.rpc.paths import Path, render
from jacquard.providers.rpc.stubs import provider_pb2


class ChangeKind(StrEnum):
    """Kind of a property change."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


_KINDS = {
    ChangeKind.ADD: provider_pb2.PropertyDiff.ADD,
    ChangeKind.DELETE: provider_pb2.PropertyDiff.DELETE,
    ChangeKind.UPDATE: provider_pb2.PropertyDiff.UPDATE,
}
_REPLACES = {
    ChangeKind.ADD: provider_pb2.PropertyDiff.ADD_REPLACE,
    ChangeKind.DELETE: provider_pb2.PropertyDiff.DELETE_REPLACE,
    ChangeKind.UPDATE: provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A property that differs."""

    path: Path
    kind: ChangeKind


def changes(old: Any, new: Any, path: Path = ()) -> list[Change]:
    """Return all differences between two JSON values: maps by key in the order of the new map, lists by position.

    An `UNKNOWN` differs from every value; 1 and 1.0 are equal, 1 and true are not.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        result: list[Change] = []
        for key, value in new.items():
            if key in old:
                result += changes(old[key], value, (*path, key))
            else:
                result.append(Change((*path, key), ChangeKind.ADD))
        result += (Change((*path, key), ChangeKind.DELETE) for key in old if key not in new)
        return result
    if isinstance(old, list) and isinstance(new, list):
        both = min(len(old), len(new))
        result = [item for index in range(both) for item in changes(old[index], new[index], (*path, index))]
        result += (Change((*path, index), ChangeKind.ADD) for index in range(both, len(new)))
        result += (Change((*path, index), ChangeKind.DELETE) for index in range(both, len(old)))
        return result
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return [] if same else [Change(path, ChangeKind.UPDATE)]


def diff_response(
    found: Iterable[Change],
    *,
    replaces: Callable[[Change], bool] = lambda _: False,
    delete_before_replace: bool = False,
    inputs: bool = True,
) -> provider_pb2.DiffResponse:
    """Return the engine's response for the changes in ``found``.

    Args:
        found: All differences; an empty list means "no change".
        replaces: Returns whether a change requires a new resource.
        delete_before_replace: Delete the old resource before the new resource is created, such as for a fixed name.
        inputs: The differences are between old and new inputs, not between old outputs and new inputs.
    """
    found = list(found)
    response = provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
        hasDetailedDiff=True,
    )
    for change in found:
        replace = replaces(change)
        text = render(change.path)
        response.detailedDiff[text].kind = (_REPLACES if replace else _KINDS)[change.kind]
        response.detailedDiff[text].inputDiff = inputs
        top = str(change.path[0])
        if top not in response.diffs:
            response.diffs.append(top)
        if replace and text not in response.replaces:
            response.replaces.append(text)
    response.deleteBeforeReplace = delete_before_replace and bool(response.replaces)
    return response
