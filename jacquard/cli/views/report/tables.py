"""Tables and bars of pages."""

from collections.abc import Iterable, Iterator, Mapping

from rich.table import Table
from rich.text import Text

from components.specs.reading.problems import listed
from components.specs.struct import Struct
from jacquard.cli.console import plural
from jacquard.cli.tables import NAMED, Section

WIDTH = 600
"""Width of the longest bar."""
_WARNING = "yellow"


class Cell(Struct, kw_only=False):
    """A cell of a table."""

    lines: tuple[tuple[str, bool], ...]
    """Lines of the cell, each with True for a warning."""
    number: bool


class PageSection(Struct, kw_only=False):
    """A table of a page."""

    title: str
    heads: tuple[tuple[str, bool], ...]
    """Headings, each with True for a column of numbers."""
    rows: tuple[tuple[Cell, ...], ...]
    hint: str


class Bar(Struct, kw_only=False):
    """Number of things with one name, in parts by place."""

    name: str
    caption: str
    parts: tuple[tuple[float, float, str], ...]
    """Offset, width and text of each place."""


def page_sections(sections: Iterable[Section]) -> list[PageSection]:
    """Return the content of ``sections`` for the template ``tables.html``."""
    return [PageSection(item.title, _heads(item.table), _rows(item.table), item.hint) for item in sections]


def bars(counts: Mapping[str, Mapping[str, int]], what: str) -> Iterator[Bar]:
    """Yield a bar for each name of ``counts`` (number of ``what`` by place, by name)."""
    longest = max((sum(places.values()) for places in counts.values()), default=0)
    for name, places in counts.items():
        total, at, parts = sum(places.values()), 0.0, []
        for place, count in places.items():
            width = WIDTH * count / longest if longest else 0.0
            parts.append((round(at, 1), round(width, 1), f"{place}: {plural(count, what)}"))
            at += width
        caption = plural(total, what) if total else "none"
        in_places = f"{caption} in {listed(list(places))}" if total and len(places) <= NAMED else caption
        yield Bar(name, in_places, tuple(parts))


def _heads(table: Table) -> tuple[tuple[str, bool], ...]:
    return tuple((str(column.header), column.justify == "right") for column in table.columns)


def _rows(table: Table) -> tuple[tuple[Cell, ...], ...]:
    numbers = [column.justify == "right" for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    return tuple(
        tuple(Cell(tuple(_lines(cell)), number) for cell, number in zip(row, numbers, strict=True)) for row in rows
    )


def _lines(cell: object) -> Iterator[tuple[str, bool]]:
    for line in (cell if isinstance(cell, Text) else Text(str(cell))).split("\n"):
        yield line.plain, _WARNING in {str(line.style), *(str(span.style) for span in line.spans)}
