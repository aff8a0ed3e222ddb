"""How the work on each of several stacks ended, when it did not go well with all."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

_STYLES = {"failed": "bold red", "refused": "bold red", "held": "bold red", "not begun": "dim"}


def show(console: Console, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line for each stack: its name, how the work on it ended, and a detail."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("stack", "result", ""):
        table.add_column(name, no_wrap=bool(name))
    for stack, word, detail in rows:
        table.add_row(stack, Text(word, _STYLES.get(word, "")), detail)
    console.print()
    console.print(table)
