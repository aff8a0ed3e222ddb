"""The ``jacquard`` command; it loads only the module of the called verb."""

from importlib.metadata import version
from typing import Annotated, Any

import typer

from jacquard.cli.console import open_closed_streams
from jacquard.cli.failures import DEBUG, PROGRAM, Group
from jacquard.cli.panels import PANELS, VERBS

_EPILOG = (
    "Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting for a gate, 4 refused by a policy, 5 confirmation "
    "required, 6 drift, 7 cluster unreachable, 70 bug in Jacquard, 130 interrupted."
)


class _Verbs(Group):
    """Command group that knows only names and help texts; it loads a verb's module when the verb is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and arguments of the called verb."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, VERBS[name].load() if name and known else known, rest


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        typer.echo(f"jacquard {version('jacquard')}")
        raise typer.Exit


_VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]
_DebugOption = Annotated[bool, typer.Option(DEBUG, help="Print the trace of an unexpected failure.")]


def _root(
    *,
    show_version: _VersionOption = False,
    debug: _DebugOption = False,
) -> None:
    """A GPU cloud region as code: clusters, networks, storage and VMs from YAML data."""
    del show_version, debug


def _not_loaded() -> None:
    """Placeholder of a verb that is not loaded yet."""


def build() -> typer.Typer:
    """Return the command with all its verbs."""
    app = typer.Typer(
        name=PROGRAM,
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
    build()(prog_name=PROGRAM)
