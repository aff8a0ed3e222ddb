"""The command group that turns each failure into one message, an exit code and, on request, a document or comment."""

import difflib
import re
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from typer import Abort, BadParameter, TyperException
from typer.core import TyperGroup

from components.specs.reading.problems import ArgumentError, SpecError, listed, shortened, shown, suggestion, visible
from jacquard.cli import interrupts
from jacquard.cli.console import answered, output, print_json, seconds, write_text
from jacquard.cli.errors import ExitCode, Stop, known, tell

PROGRAM = "jacquard"
_NEAR_OPTION = 0.75
"""Similarity above which an option is suggested."""
_MAX_LINES = 200
"""Maximum number of lines of an error in a comment; the log contains all."""
_TICKS = re.compile("`+")


class Group(TyperGroup):
    """The root command group."""

    loading_seconds = 0.0
    """Duration of loading the called verb."""

    def main(self, *positional: Any, **named: Any) -> Any:
        """Run ``args``, or the arguments of this process, and exit with the code of the result."""
        given = named.get("args")
        arguments = list(sys.argv[1:] if given is None else given)
        answered.set(False)
        output.reset()
        started = time.monotonic()
        try:
            _refuse_empty(arguments)
            code = super().main(*positional, **{**named, "args": arguments, "standalone_mode": False})
        except Exception as failure:  # noqa: BLE001 - an unknown failure is a bug, and is reported as one
            code = _report(failure, arguments)
        duration, loading = seconds(time.monotonic() - started), seconds(self.loading_seconds)
        _debug(f"exit code {int(code or 0)} after {duration}, including {loading} to load the command")
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command.

        Raises:
            Stop: Ctrl-C interrupted the command.
        """
        try:
            with interrupts.raised():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            msg = "run the same command again to continue"
            raise Stop(msg, ExitCode.INTERRUPTED) from None


def _report(failure: Exception, arguments: Sequence[str]) -> int:
    """Print ``failure``, also in the output format if that is JSON or Markdown, and return its exit code."""
    if isinstance(failure, TyperException) and not failure.message and not isinstance(failure, BadParameter):
        return failure.exit_code  # a command without arguments printed its help
    if output.debug and not isinstance(failure, TyperException | Abort):
        from jacquard.cli.bug_reports import show_trace  # noqa: PLC0415 - only for --debug

        show_trace(failure)
    explained = failure if known(failure) else _explained(failure, arguments)
    stop = known(explained) or Stop(str(explained))
    tell(explained)
    if _has_format(arguments, "json") and not answered.get():
        print_json(_document(explained, stop))
    elif _has_format(arguments, "markdown") and not answered.get():
        write_text(_comment(next(item for item in arguments if not item.startswith("-")), str(explained)))
    return stop.code


def installed_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version  # noqa: PLC0415 - takes a tenth of the time of --help to load

    return version(PROGRAM)


def _explained(failure: Exception, arguments: Sequence[str]) -> Stop:
    """Return the stop for wrong usage, a declined prompt, or a bug."""
    if isinstance(failure, TyperException):
        return Stop(_usage(failure), ExitCode.BAD_DATA)
    if isinstance(failure, Abort):
        return Stop("the prompt was not confirmed; run the same command again to confirm it")
    return _bug(failure, arguments)


def _bug(failure: Exception, arguments: Sequence[str]) -> Stop:
    """Return the stop for an unexpected failure, after its report is written."""
    # These modules take time to load, and only bugs need them.
    from components.specs.secret_text import masked  # noqa: PLC0415
    from jacquard.cli import bug_reports  # noqa: PLC0415

    program = f"{PROGRAM} {installed_version()}"
    text = shortened(visible(str(failure))) or "no message"
    message = f"{type(failure).__name__} in {bug_reports.place(failure)}: {text}; this is a bug of {program}"
    path = bug_reports.write(failure, arguments, program)
    remedy = f"attach {path} to an issue" if path else "run the command again with --debug, and report its output"
    return Stop(masked(f"{message}; {remedy}"), ExitCode.BUG)


def _debug(text: str) -> None:
    if output.debug:
        sys.stderr.write(f"debug: {text}\n")


def _document(failure: Exception, stop: Stop) -> dict[str, Any]:
    """Return an error as data. The remedy is the last clause of the message, or of the first problem of the data."""
    message, _, details = str(stop).partition("\n")
    error: dict[str, Any] = {"code": stop.code.name.lower(), "message": message, "remedy": _remedy(message)}
    of_data = failure if isinstance(failure, SpecError) and not isinstance(failure, ArgumentError) else None
    if of_data is None:
        error |= {"file": None, "line": None, "details": details.splitlines(), "environment": None, "problems": []}
        return {"error": error}
    report = of_data.to_json()
    first = of_data.problems[0] if of_data.problems else None
    if first:
        error |= {"remedy": _remedy(first.text), "file": first.file, "line": first.line or None}
    else:
        error |= {"file": None, "line": None}
    return {"error": error | {"details": [], **report}}


def _remedy(text: str) -> str | None:
    _, found, remedy = text.rpartition("; ")
    return remedy if found else None


def _comment(verb: str, message: str) -> str:
    """Return an error as a comment; its marker replaces the comment of an earlier run, whose result is outdated."""
    lines = [visible(line) for line in message.splitlines()]
    rest = [f"and {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(message)), default=0))
    shown_lines = [*lines[:_MAX_LINES], *rest]
    return "\n".join([f"<!-- jacquard {verb} -->", f"### `jacquard {verb}` failed", "", fence, *shown_lines, fence, ""])


def _usage(failure: TyperException) -> str:
    """Return the message about wrong arguments, with the nearest known value or the help as remedy."""
    context = getattr(failure, "ctx", None)
    see_help = f"; see '{context.command_path if context else PROGRAM} --help'"
    text = failure.format_message().rstrip(".").replace(". Did you mean ", "; did you mean ")
    if options := getattr(failure, "possibilities", None):
        text = f"{failure.message}{_near_option(getattr(failure, 'option_name', ''), options)}"
    elif isinstance(failure, BadParameter) and failure.message:
        text = _bad_value(failure)
    start = text[:2].title() == text[:2]  # Names of arguments are in capitals.
    return f"{text[0].lower() if start else text[0]}{text[1:]}{'' if ';' in text else see_help}"


def _near_option(wrong: str, options: Iterable[str]) -> str:
    """Return the suggestion of an option, or an empty text; the dashes that all options share do not count."""
    named = {option.lstrip("-"): option for option in options}
    near = difflib.get_close_matches(wrong.lstrip("-"), named, n=1, cutoff=_NEAR_OPTION)
    return f"; did you mean '{named[near[0]]}'?" if near else ""


def _bad_value(failure: BadParameter) -> str:
    """Return the message about a value that an option or argument does not accept."""
    param: Any = failure.param
    name = failure.param_hint or (param.get_error_hint() if param else "an argument")
    text = failure.message.rstrip(".")
    details: list[Any] = getattr(failure.__cause__, "errors", list)()  # Typer validates with pydantic
    if details:
        value = details[0]["input"]
        choices = param.type_descriptor.choices or ()
        must = text.replace("Input should be", "must be").partition(", unable to parse")[0]
        text = f"must be one of {listed(choices)}" if choices else must
        text += f" (got {shown(value)}){suggestion(str(value), choices)}"
    return f"{str(name).replace(chr(39), '')}: {text}"


def _has_format(arguments: Sequence[str], name: str) -> bool:
    return ("--format", name) in pairwise(arguments) or f"--format={name}" in arguments


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse empty values: an unset variable of a script must not count as an omitted option.

    Raises:
        Stop: a value is empty.
    """
    for before, argument in pairwise(["", *arguments]):
        option, assigned, value = argument.partition("=") if argument.startswith("--") else (before, "", argument)
        if not value.strip() and (assigned or not argument.strip()):
            name = option if option.startswith("-") else "argument"
            msg = f"{name}: must not be empty (got {value!a}); write a value, or omit it"
            raise Stop(msg, ExitCode.BAD_DATA)
