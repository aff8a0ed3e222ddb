"""The ``jacquard`` command; it loads only the module of the called verb."""

import time
from typing import Annotated, Any

import typer

from jacquard.cli.console import open_closed_streams
from jacquard.cli.failures import PROGRAM, Group, installed_version
from jacquard.cli.global_options import ColorOption, DebugOption, QuietOption, VerboseOption
from jacquard.cli.panels import PANELS, VERBS

_EPILOG = (
    "Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting for a gate, 4 refused by a policy, 5 confirmation "
    "required, 6 drift, 7 cluster unreachable, 70 bug in Jacquard, 130 interrupted."
)


_WIDEST = 120
"""Maximum width of help texts in characters; on narrower terminals, their width."""


class _Verbs(Group):
    """Command group that knows only names and help texts; it loads a verb's module when the verb is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and arguments of the called verb."""
        name, known, rest = super().resolve_command(ctx, args)
        started = time.monotonic()
        command = VERBS[name].load() if name and known else known
        self.loading_seconds = time.monotonic() - started
        return name, command, rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - signature of Typer
        """Write the verbs by panel; rich, which formats the help of verbs, takes longer to load than all of this."""
        for panel, verbs in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(verb.name, verb.help) for verb in verbs])


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        typer.echo(f"{PROGRAM} {installed_version()}")
        raise typer.Exit


_VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]


def _root(
    context: typer.Context,
    *,
    show_version: _VersionOption = False,
    debug: DebugOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
) -> None:
    """A GPU cloud region as code: clusters, networks, storage and VMs from YAML data."""
    del show_version, debug, quiet, verbose, color
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def _not_loaded() -> None:
    """Placeholder of a verb that is not loaded yet."""


def build() -> typer.Typer:
    """Return the command with all its verbs."""
    app = typer.Typer(
        name=PROGRAM,
        cls=_Verbs,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST},
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
