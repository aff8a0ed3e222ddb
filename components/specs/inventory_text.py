"""Writes the text of ``inventory/hall-<hall>.csv``, the other way round from ``inventory_csv``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.specs.inventory import HostSpec
from components.specs.inventory_csv import COLUMNS, OPTIONAL_COLUMN

_QUOTED = "boot_mac"
"""Column whose values are always quoted: older YAML readers and spreadsheets take some MAC addresses for numbers."""


def cells(host: HostSpec) -> dict[str, str]:
    """Return the row of ``host`` by column, the optional one included."""
    values = {column: getattr(host, column) for column in (*COLUMNS, OPTIONAL_COLUMN)}
    return {column: "" if value is None else str(value) for column, value in values.items()}


def inventory_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return a file with ``rows`` in their order, with the optional column if a row needs it.

    No cell may hold a line break.
    """
    optional = any(row[OPTIONAL_COLUMN] for row in rows)
    columns = (*COLUMNS, OPTIONAL_COLUMN) if optional else COLUMNS
    lines = [columns, *([_cell(column, row[column]) for column in columns] for row in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _cell(column: str, value: str) -> str:
    if column == _QUOTED or any(letter in value for letter in ',"'):
        return '"' + value.replace('"', '""') + '"'
    return value
