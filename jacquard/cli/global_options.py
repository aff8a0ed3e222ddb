"""Options that every command has, before and after its verb: diagnostics, amount of output, and colours."""

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from jacquard.cli.console import Color, output

PANEL = "Options of all commands"


def _debug(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    output.debug = output.debug or wanted


def _quiet(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    output.quiet = output.quiet or wanted


def _verbose(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted and not output.verbose:
        output.verbose = True
        sys.addaudithook(_show_program)


def _color(wanted: Color | None) -> None:
    if wanted is None:
        return
    output.color = wanted
    if wanted is Color.NEVER:  # also for help texts, and for programs that a command runs
        os.environ["NO_COLOR"] = "1"
    elif wanted is Color.ALWAYS:
        os.environ.pop("NO_COLOR", None)


def _show_program(event: str, arguments: tuple[Any, ...]) -> None:
    """Print a program that is started; a hook of the interpreter, which misses none and cannot be removed."""
    if event != "subprocess.Popen" or not output.verbose:
        return
    import shlex  # noqa: PLC0415 - only for --verbose

    from components.specs.secret_text import masked  # noqa: PLC0415 - not for --help, whose time it would increase

    words = arguments[1] if isinstance(arguments[1], (list, tuple)) else [arguments[1]]
    sys.stderr.write(masked(f"run: {shlex.join(map(os.fsdecode, words))}\n"))


def _option(callback: Callable[..., None], *names: str, **settings: Any) -> Any:
    return typer.Option(*names, callback=callback, is_eager=True, rich_help_panel=PANEL, **settings)


DebugOption = Annotated[
    bool, _option(_debug, "--debug", help="Print the trace of a failure, and durations, on standard error.")
]
QuietOption = Annotated[
    bool, _option(_quiet, "--quiet", "-q", help="Print no progress and no notes; results and errors remain.")
]
VerboseOption = Annotated[
    bool, _option(_verbose, "--verbose", "-v", help="Print each program that is run on standard error.")
]
ColorOption = Annotated[
    Color | None, _option(_color, "--color", help="Colours of the output. Default: auto, which respects NO_COLOR.")
]


def _placeholder(
    *, debug: DebugOption = False, quiet: QuietOption = False, verbose: VerboseOption = False, color: ColorOption = None
) -> None:
    del debug, quiet, verbose, color


class Command(TyperCommand):
    """Command whose help shows a type only for options that take a value."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options and arguments, with an empty type for flags; Typer writes ``<bool>`` otherwise."""
        params = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


def add_to(command: Any) -> None:
    """Add the options to a command and its subcommands; their callbacks apply them, so that no verb receives them."""
    holder = typer.Typer(add_completion=False)
    holder.command()(_placeholder)
    shared = [param for param in get_command(holder).params if param.name != "help"]
    for param in shared:
        param.expose_value = False
    for item in _with_subcommands(command):
        item.params = [*item.params, *shared]


def remove_from(command: Any) -> None:
    """Remove the options from a command and its subcommands, for reference pages that list them once."""
    for item in _with_subcommands(command):
        item.params = [param for param in item.params if getattr(param, "rich_help_panel", None) != PANEL]


def _with_subcommands(command: Any) -> list[Any]:
    return [command, *getattr(command, "commands", {}).values()]
