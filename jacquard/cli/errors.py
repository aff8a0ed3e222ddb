"""Exit codes of the `jacquard` command, and how a mistake becomes one clear message instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

from rich.console import Console
from rich.text import Text
from typer import Exit
from typer.core import TyperGroup

from components.specs.reading.problems import SpecError, listed, suggestion
from jacquard.cli import interrupts
from jacquard.cli.console import stderr
from jacquard.engine.errors import EngineError, EngineStopped
from jacquard.machine.errors import SettingError, ToolchainError, explained
from jacquard.providers.errors import ProviderError
from stacks.errors import StackError


class ExitCode(IntEnum):
    """What a script may rely on."""

    OK = 0
    FAILED = 1
    BAD_DATA = 2
    """Data are wrong, or the command was called in a wrong way."""
    WAITING = 3
    """Nothing is wrong, but something must happen first; the same command resumes."""
    REFUSED = 4
    """A mandatory policy refuses what was asked for."""
    HELD = 5
    """What was asked for would lose what nobody meant to, or go on with what others made: it needs a word for that."""
    DRIFTED = 6
    """A region is not as it is declared."""
    UNREAD = 7
    """What was asked about could not be looked at, so that nothing can be said of it, neither good nor bad."""
    INTERRUPTED = interrupts.EXIT_CODE


_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.FAILED,
    ExitCode.BAD_DATA,
    ExitCode.REFUSED,
    ExitCode.HELD,
    ExitCode.WAITING,
)
_WORDS = {
    ExitCode.WAITING: "waiting",
    ExitCode.REFUSED: "refused",
    ExitCode.HELD: "held",
    ExitCode.DRIFTED: "drift",
    ExitCode.UNREAD: "unread",
    ExitCode.INTERRUPTED: "interrupted",
}


class Stop(Exception):  # noqa: N818 - not every stop is an error: a gate waits
    """Ends a command with a message and an exit code.

    Args:
        message: lower case, no full stop; the first line says what, further lines give detail.
        code: what a script sees.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


def unknown(got: str, known: Sequence[str], *, what: str, remedy: str) -> Stop:
    """Return the stop for a name that nothing carries, with the nearest one that exists."""
    hint = suggestion(got, known) or f"; {remedy}"
    return Stop(f"{what} '{got}' is unknown (known: {listed(known)}){hint}", ExitCode.BAD_DATA)


class Group(TyperGroup):
    """The command group that turns known failures into messages and exit codes."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command.

        Raises:
            Exit: with the code of the failure.
        """
        try:
            with interrupts.raised():
                return self._explained(ctx)
        except KeyboardInterrupt:
            show("the same command goes on from here", "interrupted")
            raise Exit(ExitCode.INTERRUPTED) from None

    def _explained(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as failure:
            stop = known(failure)
            if stop is None:
                raise
            tell(failure)
            raise Exit(stop.code) from None


def known(failure: Exception) -> Stop | None:
    """Return what ``failure`` ends a command with; None when it is none that a person can do something about."""
    match failure:
        case Stop():
            return failure
        case SpecError() | SettingError():
            return Stop(str(failure), ExitCode.BAD_DATA)
        case EngineStopped():
            return Stop(str(failure), ExitCode.INTERRUPTED)
        case EngineError() | ProviderError() | StackError() | ToolchainError():
            return Stop(str(failure))
        case OSError() if not isinstance(failure, BrokenPipeError):  # nobody reads on, as after `| head`: no mistake
            return Stop(explained(failure))
    return None


def worst(failures: Iterable[Exception]) -> ExitCode:
    """Return the code for several failures: what broke is worse than what was refused, held, or only waits."""
    codes = {stop.code for stop in map(known, failures) if stop}
    return next(code for code in _WORST_FIRST if code in codes)


def word_of(failure: Exception) -> str:
    """Return in a word what a failure that is `known` is."""
    stop = known(failure)
    return _WORDS.get(stop.code, "failed") if stop else "failed"


def tell(failure: Exception, console: Console | None = None) -> None:
    """Print a failure that is `known`."""
    stop = known(failure)
    if stop is None:
        return
    if isinstance(failure, SpecError):
        (console or stderr()).print(Text(str(failure)), soft_wrap=True)  # its first line says whose problems these are
    else:
        show(str(stop), _WORDS.get(stop.code, "error"), console)


def show(message: str, word: str, console: Console | None = None) -> None:
    """Print ``message``, led by a coloured ``word``, to standard error or where others print as well."""
    style = {
        "error": "bold red",
        "refused": "bold red",
        "held": "bold red",
        "drift": "bold yellow",
        "warning": "bold yellow",
    }.get(word, "bold cyan")
    (console or stderr()).print(Text.assemble((f"{word}: ", style), message), soft_wrap=True)
