"""Values of a release that the data set in place of those that the library and the chart have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.specs.add_ons.add_on_values import ChartValue, ValuePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One value that the data set."""

    path: ValuePath
    value: ChartValue
    reason: str

    def __str__(self) -> str:
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        return f"{self.path}={value} ({self.reason})"


def overridden(values: Mapping[str, Any], overrides: Iterable[Override]) -> dict[str, Any]:
    """Return ``values`` with each of ``overrides`` at its path; whatever stands beside them stays."""
    found = dict(values)
    for one in overrides:
        found = _with(found, one.path.split("."), one.value)
    return found


def reasons(overrides: Iterable[Override]) -> str:
    """Return what is set and why, as one line."""
    return "; ".join(map(str, overrides))


def _with(values: Mapping[str, Any], path: list[str], value: ChartValue) -> dict[str, Any]:
    key, *below = path
    return {**values, key: _with(values.get(key, {}), below, value) if below else value}
