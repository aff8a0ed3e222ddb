"""Common table style on a terminal: no rules, dim headings, right-aligned numbers."""

from collections.abc import Collection

from rich.table import Table


def plain_table(*columns: str, numbers: Collection[str] = (), wrap: bool = True) -> Table:
    """Return an empty table; columns in ``numbers`` are right-aligned, and ``wrap`` folds long cells."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in numbers else "left",
            no_wrap=not wrap,
            overflow="fold" if wrap else "ellipsis",
        )
    return table
