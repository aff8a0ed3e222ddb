"""Differences between two sets of properties, with Pulumi's property paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jacquard.providers.rpc.paths import Path, render
from jacquard.providers.rpc.stubs import provider_pb2


class ChangeKind(StrEnum):
    """What happens to a property."""

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
    """One property that differs."""

    path: Path
    kind: ChangeKind


def changes(old: Any, new: Any, path: Path = ()) -> list[Change]:
    """Return every difference between two JSON values, maps by key in the new one's order, lists by position.

    An `UNKNOWN` differs from everything; 1 and 1.0 are the same, 1 and true are not.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[Change] = []
        for key, value in new.items():
            if key in old:
                found += changes(old[key], value, (*path, key))
            else:
                found.append(Change((*path, key), ChangeKind.ADD))
        found += (Change((*path, key), ChangeKind.DELETE) for key in old if key not in new)
        return found
    if isinstance(old, list) and isinstance(new, list):
        both = min(len(old), len(new))
        found = [item for index in range(both) for item in changes(old[index], new[index], (*path, index))]
        found += (Change((*path, index), ChangeKind.ADD) for index in range(both, len(new)))
        found += (Change((*path, index), ChangeKind.DELETE) for index in range(both, len(old)))
        return found
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return [] if same else [Change(path, ChangeKind.UPDATE)]


def diff_response(
    found: Iterable[Change],
    *,
    replaces: Callable[[Change], bool] = lambda _: False,
    delete_before_replace: bool = False,
    inputs: bool = True,
) -> provider_pb2.DiffResponse:
    """Return the engine's answer for ``found``.

    Args:
        found: All differences; none means "no change".
        replaces: Whether a change needs a new resource.
        delete_before_replace: The old resource must go before the new one can come (a fixed name, for instance).
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
