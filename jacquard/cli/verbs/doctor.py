"""``jacquard doctor``: what is used, from where, and how to get what is missing."""

from __future__ import annotations

from dataclasses import asdict

import typer

from jacquard.cli import arguments
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode
from jacquard.cli.views import machine
from jacquard.harness import State, report


def doctor(output: arguments.FormatOption = Format.TEXT) -> None:
    """Show what is used, and what is missing.

    Settings, versions and places of all parts on this machine, and how to get what is missing. Changes nothing. Ends
    with 1 when something is missing, too old or wrong.
    """
    items = report()
    if output is Format.JSON:
        print_json([asdict(item) for item in items])
    else:
        machine.show(stdout(), items)
    if any(item.state is not State.OK for item in items):
        raise typer.Exit(ExitCode.FAILED)
