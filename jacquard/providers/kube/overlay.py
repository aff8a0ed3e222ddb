"""Merges live values into declared objects, so that drift is visible as a difference."""

from collections.abc import Mapping
from typing import Any

_ABSENT = object()


def seen(declared: Mapping[str, Any], live: Mapping[str, Any], applied: Any = _ABSENT) -> dict[str, Any]:
    """Return a declared object with live values, except where the live value equals the expected value in ``applied``.

    Undeclared fields are omitted; declared fields that no longer exist are removed.
    """
    return dict(_overlay(declared, {**live, "apiVersion": declared["apiVersion"]}, applied))


def _overlay(declared: Any, live: Any, applied: Any) -> Any:
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        after = applied if isinstance(applied, Mapping) else dict.fromkeys(declared, _ABSENT)
        return {
            key: _overlay(value, live[key], after.get(key, _ABSENT)) if key in live else value
            for key, value in declared.items()
            if key in live or _is_empty(value) or key not in after
        }
    if isinstance(declared, list) and isinstance(live, list) and len(declared) == len(live):
        items = applied if isinstance(applied, list) and len(applied) == len(live) else [_ABSENT] * len(live)
        return [_overlay(*each) for each in zip(declared, live, items, strict=True)]
    return declared if live == applied else live


def _is_empty(value: Any) -> bool:
    """Return whether a value means the same as an omitted field; servers drop such fields."""
    return value is None or value in ({}, [])
