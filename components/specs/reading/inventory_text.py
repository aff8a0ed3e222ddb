"""Writer of the text of ``inventory/hall-<hall>.csv``; the inverse of ``inventory_csv``."""

from collections.abc import Iterable, Mapping, Sequence

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import ALL_COLUMNS, COLUMNS, OPTIONAL_COLUMNS

PORT_GUIDS = "port_guids"
"""Column that is exported only if hosts have a value in it, because other systems need a custom field for it."""
_QUOTED = "boot_mac"
"""Column whose values are always quoted: older YAML readers and spreadsheets read some MAC addresses as numbers."""


def cells(host: HostSpec) -> dict[str, str]:
    """Return the row of ``host`` by column, including optional columns."""
    return {column: _text(getattr(host, column)) for column in ALL_COLUMNS}


def optional_column(column: str, hosts: Iterable[HostSpec]) -> tuple[str, ...]:
    """Return ``column`` if any of ``hosts`` has a value in it, otherwise nothing; for formats without empty values."""
    return (column,) if any(getattr(host, column) for host in hosts) else ()


def inventory_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the text of a file with ``rows`` in the given order, with only those optional columns that have values.

    Cells must not contain line breaks.
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
