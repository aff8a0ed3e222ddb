"""``jacquard setup`` and ``jacquard doctor``: the tools of this machine, and remedies for missing ones."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from jacquard.cli import arguments
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode
from jacquard.cli.tables import plain_table
from jacquard.harness import Item, Progress, State, report
from jacquard.harness import setup as toolchain


def setup(
    *,
    controllers: Annotated[
        bool,
        typer.Option("--controllers", help="Build ExternalDNS and MetalLB too; a rehearsal simulates them otherwise."),
    ] = False,
) -> None:
    """Prepare this machine for up and preview.

    Finds or builds the engine, installs plugins, and builds the software of rehearsal clusters. All files are in the
    cache, which is shared by all repositories of a user. The first run takes about twelve minutes, unless the vendor's
    pulumi is installed; later runs take seconds. An interrupted run continues where it stopped.
    """
    toolchain.set_up(Progress(), controllers=controllers)


def doctor(output: arguments.FormatOption = Format.TEXT) -> None:
    """Show the tools and settings of this machine, and missing ones.

    Shows settings, versions and paths of all tools, with a remedy for each missing one. Changes nothing. Exits with 1
    if something is missing, too old or wrong.
    """
    items = report()
    if output is Format.JSON:
        print_json([asdict(item) for item in items])
    else:
        _show(items)
    if any(item.state is not State.OK for item in items):
        raise typer.Exit(ExitCode.FAILED)


def _show(items: list[Item]) -> None:
    """Print all tools, then the remedies."""
    table = plain_table("tool", "state", "used", "where")
    for item in items:
        state = Text(item.state.value, "green" if item.state is State.OK else "bold red")
        table.add_row(item.name, state, item.used, item.where)
    stdout().print(table)
    wrong = [item for item in items if item.state is not State.OK]
    stdout().print()
    if not wrong:
        stdout().print(Text("all tools are installed", "green"))
        return
    stdout().print(Text(f"{plural(len(wrong), 'tool')} missing, outdated or invalid:", "bold red"))
    for remedy in dict.fromkeys(item.remedy for item in wrong):
        names = ", ".join(item.name for item in wrong if item.remedy == remedy)
        stdout().print(Text(f"  {names}: {remedy.removeprefix(f'{names}: ')}"), soft_wrap=True)
