"""``jacquard doctor``: tools and settings of this machine, and remedies for missing ones."""

from __future__ import annotations

from dataclasses import asdict

import typer

from jacquard.cli import arguments
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode
from jacquard.cli.views import machine
from jacquard.harness import State, report


def doctor(output: arguments.FormatOption = Format.TEXT) -> None:
    """Show the tools and settings of this machine, and missing ones.

    Shows settings, versions and paths of all tools, with a remedy for each missing one. Changes nothing. Exits with 1
    if something is missing, too old or wrong.
    """
    items = report()
    if output is Format.JSON:
        print_json([asdict(item) for item in items])
    else:
        machine.show(stdout(), items)
    if any(item.state is not State.OK for item in items):
        raise typer.Exit(ExitCode.FAILED)
