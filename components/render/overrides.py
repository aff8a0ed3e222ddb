"""Overrides of chart values in the data."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.add_ons.add_on_values import ChartValue, ValuePath
from components.specs.struct import Struct


class Override(Struct):
    """Chart value that is set in the data."""

    path: ValuePath
    value: ChartValue
    reason: str

    def __str__(self) -> str:
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        return f"{self.path}={value} ({self.reason})"


def overridden(values: Mapping[str, Any], overrides: Iterable[Override]) -> dict[str, Any]:
    """Return ``values`` with each of ``overrides`` set at its path. Other values are unchanged."""
    merged = dict(values)
    for override in overrides:
        merged = _with(merged, override.path.split("."), override.value)
    return merged


def reasons(overrides: Iterable[Override]) -> str:
    """Return the overrides with their reasons, as a single line."""
    return "; ".join(map(str, overrides))


def _with(values: Mapping[str, Any], path: list[str], value: ChartValue) -> dict[str, Any]:
    key, *below = path
    return {**values, key: _with(values.get(key, {}), below, value) if below else value}
