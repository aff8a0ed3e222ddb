"""Exit codes of the `jacquard` command, and messages for known failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from components.specs.reading.problems import ArgumentError, SpecError, listed, shown, suggestion
from jacquard.cli import interrupts
from jacquard.cli.console import output, stderr
from jacquard.engine.errors import EngineError, EngineStopped
from jacquard.machine.errors import SettingError, ToolchainError, explained
from jacquard.providers.errors import ProviderError
from stacks.errors import StackError

if TYPE_CHECKING:
    from rich.console import Console

    from policies.results import Result


class ExitCode(IntEnum):
    """Exit codes that scripts can rely on."""

    OK = 0
    FAILED = 1
    BAD_DATA = 2
    """Wrong data or wrong usage of the command."""
    WAITING = 3
    """Waiting for a gate; run the same command again to continue."""
    REFUSED = 4
    """Refused by a mandatory policy."""
    CONFIRMATION_REQUIRED = 5
    """Confirmation required: a destructive change without its token, or a provider migration."""
    DRIFTED = 6
    """The region, or an external inventory, differs from the data."""
    UNREACHABLE = 7
    """A cluster or an inventory is unreachable, or the region does not exist, so its state is unknown."""
    BUG = 70
    """Unexpected failure of Jacquard itself."""
    INTERRUPTED = interrupts.EXIT_CODE


_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.FAILED,
    ExitCode.UNREACHABLE,
    ExitCode.BAD_DATA,
    ExitCode.REFUSED,
    ExitCode.CONFIRMATION_REQUIRED,
    ExitCode.WAITING,
)
_WORDS = {
    ExitCode.WAITING: "waiting",
    ExitCode.REFUSED: "refused",
    ExitCode.CONFIRMATION_REQUIRED: "blocked",
    ExitCode.DRIFTED: "drift",
    ExitCode.UNREACHABLE: "unreachable",
    ExitCode.INTERRUPTED: "interrupted",
}


class Stop(Exception):  # noqa: N818 - not every stop is an error: a gate waits
    """Ends a command with a message and an exit code.

    Args:
        message: lower case, no full stop; the first line is the summary, further lines give details.
        code: exit code of the process.
    """

    causes: Sequence[Exception] = ()
    """Failures that this stop summarizes."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


class Refusal(Stop):
    """Ends a command because rules refuse the data, the change or the state.

    Args:
        message: see `Stop`.
        results: results of the rules; at least one of them blocks.
    """

    def __init__(self, message: str, results: Iterable[Result]) -> None:
        super().__init__(message, ExitCode.REFUSED)
        self.results = tuple(results)


def unknown(got: str, known: Sequence[str], *, what: str, remedy: str) -> Stop:
    """Return the stop for an unknown name, with the known name in its path, the most similar one, or ``remedy``."""
    part = next((part for part in got.split("/") if part in known), got)
    hint = suggestion(part, known) or f"; {remedy}"
    return Stop(f"{what} {shown(got)} is unknown (known: {listed(known)}){hint}", ExitCode.BAD_DATA)


def known(failure: Exception) -> Stop | None:
    """Return the stop for ``failure``; None for a failure without a remedy, which is a bug."""
    match failure:
        case Stop():
            return failure
        case SpecError() | SettingError():
            return Stop(str(failure), ExitCode.BAD_DATA)
        case EngineStopped():
            return Stop(str(failure), ExitCode.INTERRUPTED)
        case EngineError() | ProviderError() | StackError() | ToolchainError():
            unreachable = isinstance(failure, ProviderError) and failure.unreachable
            return Stop(str(failure), ExitCode.UNREACHABLE if unreachable else ExitCode.FAILED)
        case OSError() if not isinstance(failure, BrokenPipeError):  # a closed pipe, as after `| head`, is not an error
            return Stop(explained(failure))
    return None


def worst(failures: Iterable[Exception]) -> ExitCode:
    """Return the exit code for several failures: the first of their codes in ``_WORST_FIRST``."""
    codes = {stop.code for stop in map(known, failures) if stop}
    return next(code for code in _WORST_FIRST if code in codes)


def approval_of(failure: Exception) -> str:
    """Return the result of a `known` failure in one word, such as ``blocked``."""
    stop = known(failure)
    return _WORDS.get(stop.code, "failed") if stop else "failed"


def tell(failure: Exception, console: Console | None = None) -> None:
    """Print a `known` failure."""
    stop = known(failure)
    if stop is None:
        return
    if isinstance(failure, SpecError) and not isinstance(failure, ArgumentError):
        _print(console, (str(failure), ""))  # line 1 names the environment
        return
    show(str(stop), _WORDS.get(stop.code, "error"), console)


def warn_deprecated(old: str, new: str) -> None:
    """Print a warning that an option or variable was renamed."""
    show(f"{old} is deprecated; use {new}", "warning")


def show(message: str, word: str, console: Console | None = None) -> None:
    """Print ``message`` after a coloured ``word`` such as ``error``, to ``console`` or standard error.

    A ``note`` is not printed if the output is quiet.
    """
    if output.quiet and word == "note":
        return
    style = {
        "error": "bold red",
        "refused": "bold red",
        "blocked": "bold red",
        "drift": "bold yellow",
        "warning": "bold yellow",
    }.get(word, "bold cyan")
    _print(console, (f"{word}: ", style), (message, ""))


def _print(console: Console | None, *parts: tuple[str, str]) -> None:
    """Print texts with their styles to ``console`` or standard error."""
    from rich.text import Text  # noqa: PLC0415 - takes longer to load than --help takes

    (console or stderr()).print(Text.assemble(*parts), soft_wrap=True)
