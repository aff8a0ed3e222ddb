"""Results of all stacks of a run in which at least one stack failed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

_STYLES = {"failed": "bold red", "refused": "bold red", "blocked": "bold red", "not started": "dim"}


def show(console: Console, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line per stack: name, result and detail."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("stack", "result", ""):
        table.add_column(name, no_wrap=bool(name))
    for stack, result, detail in rows:
        table.add_row(stack, Text(result, _STYLES.get(result, "")), detail)
    console.print()
    console.print(table)
