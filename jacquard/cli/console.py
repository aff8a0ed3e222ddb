"""Output streams: colours as chosen by ``--color``, JSON without decoration, no secrets.

Producers of values mask secrets. The streams mask them again, so that no new output can show one.
"""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_WITHOUT_TERMINAL = 120
answered: ContextVar[bool] = ContextVar("answered", default=False)
"""Whether the running command printed its JSON document or comment."""


class Color(StrEnum):
    """When the output has colours."""

    AUTO = "auto"
    """On a terminal, unless ``NO_COLOR`` is set."""
    ALWAYS = "always"
    """Colors also in pipes and files, and although ``NO_COLOR`` is set."""
    NEVER = "never"


@dataclass(slots=True)
class Output:
    """Settings of the output, by the options that all commands have."""

    debug: bool = False
    """Print the trace of each failure, and durations."""
    quiet: bool = False
    """Print no progress and no notes."""
    verbose: bool = False
    """Print each program that is run."""
    color: Color = Color.AUTO

    def reset(self) -> None:
        """Restore the defaults, for the next command of this process."""
        self.debug = self.quiet = self.verbose = False
        self.color = Color.AUTO


output = Output()
"""Settings of the running command. Shared by all threads, unlike a context variable."""


class Format(StrEnum):
    """Output format of a command."""

    TEXT = "text"
    JSON = "json"


class ResultFormat(StrEnum):
    """Output format of a command that judges rules."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    """Format for code scanning: each result with its line."""
    JUNIT = "junit"
    """Format for CI systems: a case for each rule."""
    GITHUB = "github"
    """Annotations of GitHub for the log of a job."""
    GITLAB = "gitlab"
    """Code Quality report of GitLab."""


RESULT_FORMATS = (ResultFormat.SARIF, ResultFormat.JUNIT, ResultFormat.GITHUB, ResultFormat.GITLAB)
"""Formats that contain only the results of rules."""


class ImpactFormat(StrEnum):
    """Output format of ``impact``: formats for reviews and for results of rules."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"


class ReviewFormat(StrEnum):
    """Output format of a command whose output can be a comment of a pull request."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    """Text of a pull request comment."""


def open_closed_streams() -> None:
    """Open closed standard streams on the null device, so that files opened later do not get their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the process exits


def stdout() -> Console:
    """Return the console for results."""
    return _console(to_stderr=False)


def stderr() -> Console:
    """Return the console for progress, warnings and errors."""
    return _console(to_stderr=True)


def print_json(value: Any) -> None:
    """Print ``value`` as JSON; see `json_text`."""
    sys.stdout.write(json_text(value))
    answered.set(True)


def json_text(value: Any) -> str:
    """Return ``value`` as JSON in the order of its keys, without secrets."""
    import json  # noqa: PLC0415 - not for --help, whose time it would increase

    from components.specs.secret_text import masked_data, masked_forms  # noqa: PLC0415 - as above

    text = json.dumps(value, indent=2, ensure_ascii=False)
    if masked_forms(text) != text:  # The text is masked value by value, because a mask could include a quote.
        text = json.dumps(masked_data(value), indent=2, ensure_ascii=False)
    return f"{text}\n"


def write_text(text: str) -> None:
    """Write ``text`` to standard output as it is, without secrets."""
    from components.specs.secret_text import masked_forms  # noqa: PLC0415 - not for --help, whose time it would increase

    sys.stdout.write(masked_forms(text))
    answered.set(True)


def print_text(text: str, *, to_stderr: bool = False) -> None:
    """Print the lines of ``text`` without secrets or styles; on a terminal, they are wrapped at words."""
    stream = sys.stderr if to_stderr else sys.stdout
    if stream.isatty():
        _console(to_stderr=to_stderr).print(text, soft_wrap=True, markup=False)
    else:  # Only a terminal needs rich, which takes time to load.
        from components.specs.secret_text import masked_forms  # noqa: PLC0415 - not for --help

        stream.write(f"{masked_forms(text)}\n")


def seconds(duration: float) -> str:
    """Return a duration as text: ``0.4 s``, ``12 s``, ``2 min 05 s``."""
    if duration < 9.95:  # noqa: PLR2004 - below ten seconds a tenth matters
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def long_duration(minutes: int) -> str:
    """Return a duration of minutes as text: ``35 min``, ``3 h 20 min``, ``2 d 4 h``."""
    days, rest = divmod(minutes, 24 * 60)
    hours, left = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {left:02d} min" if hours else f"{left} min"


def plural(count: int, singular: str, many: str | None = None) -> str:
    """Return ``count`` with the singular or plural form of its noun."""
    return f"{count} {singular if count == 1 else many or singular + 's'}"


def _console(*, to_stderr: bool) -> Console:
    from jacquard.cli.word_wrap import WrappingConsole  # noqa: PLC0415 - takes longer to load than --help takes

    stream = sys.stderr if to_stderr else sys.stdout
    # Without a terminal rich assumes 80 columns, which folds the tables of a log file.
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_WITHOUT_TERMINAL
    colors: dict[str, Any] = {}
    if output.color is Color.ALWAYS:
        colors = {"no_color": False, "color_system": "truecolor"}  # in pipes still without live displays
    elif output.color is Color.NEVER:
        colors = {"no_color": True, "color_system": None}
    return WrappingConsole(stderr=to_stderr, highlight=False, width=width, emoji=False, **colors)
