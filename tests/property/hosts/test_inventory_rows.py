"""Reading all rows of a hall together gives the same result as reading each row alone."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import COLUMNS, InventoryReader
from components.specs.reading.problems import Problem

_HEADER = ",".join(COLUMNS)
_GOOD = (
    "a01",
    "1",
    "a01-u01",
    "h100-ib-8",
    "S1",
    "redfish://10.1.1.1/redfish/v1",
    "bmc-a01",
    '"02:00:00:01:01:01"',
    "D1",
)
_BAD = ("", '"', '"x', 'x"y', '"a""b"', "=1+1", "A01", "one", "61", " ", "a,b", "02:00:00:01:01:01", "ä")


@st.composite
def rows(draw: st.DrawFn) -> str:
    """Return a row of a valid host, or one with a few invalid cells."""
    cells = [*_GOOD, f"leaf-{draw(st.integers(0, 9))}"]
    for column in draw(st.lists(st.integers(0, len(cells) - 1), max_size=2)):
        cells[column] = draw(st.sampled_from(_BAD))
    return draw(st.sampled_from((",".join(cells), ",".join(cells), "", ",".join(cells[1:]))))


def _read(lines: list[str]) -> tuple[list[HostSpec], list[Problem]]:
    reader = InventoryReader("inventory/hall-a.csv", "a")
    return reader.read("\n".join([_HEADER, *lines]) + "\n"), sorted(reader.problems)


@given(st.lists(rows(), max_size=8, unique=True))
def test_rows_do_not_depend_on_their_neighbours(lines: list[str]) -> None:
    hosts, problems = _read(lines)
    alone = [_read([line]) for line in lines]

    assert problems == sorted(
        replace(problem, line=number) for number, (_, found) in enumerate(alone, start=2) for problem in found
    )
    if not problems:
        assert hosts == [host for found, _ in alone for host in found]
