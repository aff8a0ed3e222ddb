"""Common style of tables: no rules, dim headings, right-aligned numbers, no secrets."""

from collections.abc import Collection
from typing import Any, NamedTuple

from rich.table import Table

from jacquard.cli.word_wrap import safe

NAMED = 3
"""Maximum number of places listed in a cell or a caption; further places are counted."""


class _SafeTable(Table):
    """Table that masks secrets before it folds cells."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row of texts without secrets."""
        super().add_row(*map(safe, cells), **options)


def plain_table(*columns: str, numbers: Collection[str] = (), wrap: bool = True) -> Table:
    """Return an empty table; columns in ``numbers`` are right-aligned, and ``wrap`` folds long cells."""
    table = _SafeTable(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in numbers else "left",
            no_wrap=not wrap,
            overflow="fold" if wrap else "ellipsis",
        )
    return table


class Section(NamedTuple):
    """A table with its title."""

    title: str
    table: Table
    hint: str = ""
    """Use of the content, in one sentence."""
