"""The one look of a table on a terminal: no rules, quiet headings, numbers to the right."""

from __future__ import annotations

from collections.abc import Collection

from rich.table import Table


def plain_table(*columns: str, numbers: Collection[str] = (), wrap: bool = True) -> Table:
    """Return an empty table of ``columns``, those of ``numbers`` to the right; ``wrap`` folds what is too wide."""
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in numbers else "left",
            no_wrap=not wrap,
            overflow="fold" if wrap else "ellipsis",
        )
    return made
