"""Durations of rules and routes, shortened as simulated hardware is."""

from __future__ import annotations

import re
from typing import Any

_DURATION = re.compile(r"^(\d+)(ms|s|m|h|d)$")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_FIELDS = ("for", "keep_firing_for", "group_wait", "group_interval", "repeat_interval", "interval")


def faster(value: Any, factor: float) -> Any:
    """Return rules or routes whose hold and wait times are divided by ``factor``; windows of queries stay."""
    if isinstance(value, dict):
        return {
            key: shorter(item, factor) if key in _FIELDS and isinstance(item, str) else faster(item, factor)
            for key, item in value.items()
        }
    return [faster(item, factor) for item in value] if isinstance(value, list | tuple) else value


def shorter(duration: str, factor: float, *, minimum_milliseconds: int = 0) -> str:
    """Return a duration of Prometheus divided by ``factor``.

    Raises:
        ValueError: it is no duration with one unit.
    """
    found = _DURATION.match(duration)
    if found is None:
        msg = f"'{duration}' is not a duration with one unit"
        raise ValueError(msg)
    milliseconds = int(int(found[1]) * _MILLISECONDS[found[2]] / factor)
    return f"{max(milliseconds, minimum_milliseconds)}ms"
