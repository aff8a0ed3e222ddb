"""Output of ``jacquard doctor``: the tools on this machine, and how to install those that are missing."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table
from jacquard.harness import Item, State


def show(console: Console, items: list[Item]) -> None:
    """Print all tools, then the remedies."""
    table = plain_table("tool", "state", "used", "where")
    for item in items:
        state = Text(item.state.value, "green" if item.state is State.OK else "bold red")
        table.add_row(item.name, state, item.used, item.where)
    console.print(table)
    wrong = [item for item in items if item.state is not State.OK]
    console.print()
    if not wrong:
        console.print(Text("all tools are installed", "green"))
        return
    console.print(Text(f"{plural(len(wrong), 'tool')} missing, outdated or invalid:", "bold red"))
    for remedy in dict.fromkeys(item.remedy for item in wrong):
        names = ", ".join(item.name for item in wrong if item.remedy == remedy)
        console.print(Text(f"  {names}: {remedy.removeprefix(f'{names}: ')}"), soft_wrap=True)
