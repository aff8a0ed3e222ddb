"""``jacquard doctor``: what is used, from where, and how to get what is missing."""

from __future__ import annotations

from dataclasses import asdict

import typer
from rich.table import Table
from rich.text import Text

from cli import arguments
from cli.console import Format, plural, print_json, stdout
from cli.errors import ExitCode
from toolchain.doctor import Item, State, report


def doctor(output: arguments.FormatOption = Format.TEXT) -> None:
    """Show what is used, and what is missing.

    Settings, versions and places of all parts on this machine, and how to get what is missing. Changes nothing. Ends
    with 1 when something is missing, too old or wrong.
    """
    items = report()
    if output is Format.JSON:
        print_json([asdict(item) for item in items])
    else:
        _show(items)
    if any(item.state is not State.OK for item in items):
        raise typer.Exit(ExitCode.FAILED)


def _show(items: list[Item]) -> None:
    console = stdout()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in ("part", "state", "used", "where"):
        table.add_column(column, overflow="fold")
    for item in items:
        state = Text(item.state.value, "green" if item.state is State.OK else "bold red")
        table.add_row(item.name, state, item.used, item.where)
    console.print(table)
    wrong = [item for item in items if item.state is not State.OK]
    console.print()
    if not wrong:
        console.print(Text("everything is there", "green"))
        return
    console.print(Text(f"{plural(len(wrong), 'part')} missing, too old or wrong:", "bold red"))
    for remedy in dict.fromkeys(item.remedy for item in wrong):
        names = ", ".join(item.name for item in wrong if item.remedy == remedy)
        console.print(Text(f"  {names}: {remedy.removeprefix(f'{names}: ')}"), soft_wrap=True)
