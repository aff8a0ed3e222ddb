"""Where text goes: colour only on a terminal, ``NO_COLOR`` respected, JSON never decorated."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console

_WIDTH_WITHOUT_TERMINAL = 120


class Format(StrEnum):
    """How a command answers."""

    TEXT = "text"
    JSON = "json"


class ReviewFormat(StrEnum):
    """How a command answers whose answer may stand in a pull request."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    """The text of a comment of a pull request."""


def open_closed_streams() -> None:
    """Let standard streams that were closed lead nowhere, so that no file opened later takes their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open to the end


def stdout() -> Console:
    """Return the console of results."""
    return _console(to_stderr=False)


def stderr() -> Console:
    """Return the console of progress, warnings and errors."""
    return _console(to_stderr=True)


def print_json(value: Any) -> None:
    """Print ``value`` as JSON, keys in the order given."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def seconds(duration: float) -> str:
    """Return a duration as a person reads it: ``0.4 s``, ``12 s``, ``2 min 05 s``."""
    if duration < 9.95:  # noqa: PLR2004 - below ten seconds a tenth matters
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return ``count`` with the right form of its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def _console(*, to_stderr: bool) -> Console:
    stream = sys.stderr if to_stderr else sys.stdout
    # Without a terminal rich assumes 80 columns, which folds the tables of a log file.
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_WITHOUT_TERMINAL
    return Console(stderr=to_stderr, highlight=False, width=width, emoji=False)
