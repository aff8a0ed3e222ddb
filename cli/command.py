"""Which verbs the ``jacquard`` command has. Each is a module of its own, loaded when it is called."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.main import get_command

from cli import interrupts
from cli.console import open_closed_streams
from cli.errors import Group

_EPILOG = "Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting, 4 refused by a policy, 130 interrupted."


@dataclass(frozen=True, slots=True)
class Verb:
    """What is said of a verb before it is loaded."""

    name: str
    target: str
    """``module:name`` of its function, or of the Typer with the verbs below it."""
    help: str
    """The first paragraph of its own help."""

    def load(self) -> Any:
        """Return the command itself."""
        with interrupts.ended_at_once():
            target = pkgutil.resolve_name(self.target)
        if isinstance(target, typer.Typer):
            return get_command(target)
        alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        alone.command(self.name)(target)
        return get_command(alone)


PANELS: dict[str, tuple[Verb, ...]] = {
    "Change a region": (
        Verb("up", "cli.verbs.up:up", "Apply an environment and wait until it is as ordered."),
        Verb("preview", "cli.verbs.preview:preview", "Show what 'up' would do, and what policies refuse."),
        Verb("gc", "cli.verbs.gc:gc", "Delete templates of earlier rollouts that nothing refers to any more."),
        Verb("down", "cli.verbs.down:down", "Destroy an environment, and leave nothing running."),
    ),
    "Look at a region": (
        Verb("status", "cli.verbs.status:status", "Show a region as it is now."),
        Verb("show", "cli.verbs.show:show", "Show what is in force and where it came from."),
        Verb("logs", "cli.verbs.logs:logs", "Show the logs of a local region's parts."),
        Verb("env", "cli.verbs.env:env", "Print variables for plain pulumi and kubectl."),
    ),
    "Work on data": (
        Verb("new", "cli.verbs.new:new", "Write the files of a new environment."),
        Verb("check", "cli.verbs.check:check", "Check data and policies; no engine, no cluster."),
        Verb("render", "cli.verbs.render:render", "Write every object as YAML, one file each."),
        Verb("allocate", "cli.verbs.allocate:allocate", "Write the numbers that the data leaves open."),
        Verb(
            "promote",
            "cli.verbs.promote:promote",
            "Pin other nodes for a pool, other DPUs, or another version or data store for a cluster's control plane.",
        ),
        Verb("migrate", "cli.verbs.migrate:migrate", "Move data files on to this format."),
        Verb("schema", "cli.verbs.schema:schema", "Keep schemas, editor headers and the field reference current."),
        Verb("inventory", "cli.verbs.inventory:app", "Exchange hosts with other systems."),
    ),
    "This machine": (Verb("doctor", "cli.verbs.doctor:doctor", "Show what is used, and what is missing."),),
}
"""Verbs of each panel of ``jacquard --help``, by its title."""
VERBS = {verb.name: verb for verbs in PANELS.values() for verb in verbs}


class _Verbs(Group):
    """The group whose own commands only have names and helps: the one that is called is loaded."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and arguments of what is called."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, VERBS[name].load() if name and known else known, rest


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


def _not_loaded() -> None:
    """Stand for a verb that is not loaded yet."""


def build() -> typer.Typer:
    """Return the command with all its verbs."""
    app = typer.Typer(
        cls=_Verbs,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(epilog=_EPILOG)(_root)
    for panel, verbs in PANELS.items():
        for verb in verbs:
            app.command(verb.name, help=verb.help, rich_help_panel=panel)(_not_loaded)
    return app


def run() -> None:
    """Run the command line."""
    open_closed_streams()
    build()()
