"""The ``jacquard`` command: which verbs there are. Each verb is a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from cli.allocations import allocate
from cli.check import check
from cli.console import open_closed_streams
from cli.doctor import doctor
from cli.down import down
from cli.env import env
from cli.errors import Group
from cli.gc import gc
from cli.inventory import group as inventory
from cli.logs import logs
from cli.migrate import migrate
from cli.preview import preview
from cli.promote import promote
from cli.render import render
from cli.schema import schema
from cli.show import show
from cli.status import status
from cli.up import up

_EPILOG = "Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting, 4 refused by a policy, 130 interrupted."
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Change a region": (up, preview, gc, down),
    "Look at a region": (status, show, logs, env),
    "Work on data": (check, render, allocate, promote, migrate, schema),
    "This machine": (doctor,),
}


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        typer.echo(f"jacquard {version('jacquard')}")
        raise typer.Exit


_VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
]


def _root(
    *,
    show_version: _VersionOption = False,
) -> None:
    """A GPU cloud region as code: data in, clusters, networks, storage and VMs out."""
    del show_version


def build() -> typer.Typer:
    """Return the command with all its verbs."""
    app = typer.Typer(
        cls=Group,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(epilog=_EPILOG)(_root)
    for panel, verbs in _PANELS.items():
        for verb in verbs:
            app.command(verb.__name__, rich_help_panel=panel)(verb)
    app.add_typer(inventory(), name="inventory", rich_help_panel="Work on data")
    return app


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    build()()
