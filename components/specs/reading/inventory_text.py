"""Writes the text of ``inventory/hall-<hall>.csv``, the other way round from ``inventory_csv``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import ALL_COLUMNS, COLUMNS, OPTIONAL_COLUMNS

PORT_GUIDS = "port_guids"
"""Column that other systems are told of only where a host has it, since they need a field for it."""
_QUOTED = "boot_mac"
"""Column whose values are always quoted: older YAML readers and spreadsheets take some MAC addresses for numbers."""


def cells(host: HostSpec) -> dict[str, str]:
    """Return the row of ``host`` by column, the optional ones included."""
    return {column: _text(getattr(host, column)) for column in ALL_COLUMNS}


def told(column: str, hosts: Iterable[HostSpec]) -> tuple[str, ...]:
    """Return ``column`` if one of ``hosts`` has a value in it, for formats without an empty one."""
    return (column,) if any(getattr(host, column) for host in hosts) else ()


def inventory_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return a file with ``rows`` in their order, with the optional columns that a row needs.

    No cell may hold a line break.
    """
    columns = (*COLUMNS, *(column for column in OPTIONAL_COLUMNS if any(row[column] for row in rows)))
    lines = [columns, *([_cell(column, row[column]) for column in columns] for row in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    return "" if value is None else str(value)


def _cell(column: str, value: str) -> str:
    if column == _QUOTED or any(letter in value for letter in ',"'):
        return '"' + value.replace('"', '""') + '"'
    return value
