"""Report of an unexpected failure, in a file that users can attach to an issue. It contains no values of the data."""

import datetime as dt
import os
import platform
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from components.specs.secret_text import masked
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError
from jacquard.machine.files import replace_private

FOLDER = "bug-reports"
"""Folder of the reports in the project's home, or in the cache without a project."""


def trace(failure: BaseException) -> str:
    """Return the trace of a failure, without secrets. It has source lines, but no values of variables."""
    return masked("".join(traceback.format_exception(failure)))


def write(failure: Exception, arguments: Sequence[str], program: str) -> Path | None:
    """Write the report of ``failure`` and return its path; None if the file cannot be written.

    Args:
        failure: unexpected failure.
        arguments: arguments of the command.
        program: name and version of the program.
    """
    now = dt.datetime.now(dt.UTC)
    text = "\n".join(
        [
            f"program: {program}",
            f"time: {now:%Y-%m-%dT%H:%M:%SZ}",
            f"python: {platform.python_version()} on {platform.system()} {platform.release()} {platform.machine()}",
            f"command: {masked(shlex.join(['jacquard', *arguments]))}",
            "",
            trace(failure),
        ]
    )
    path = _folder() / f"{now:%Y%m%dT%H%M%SZ}-{os.getpid()}.txt"
    try:
        replace_private(path, text)
    except OSError:
        return None
    return path


def place(failure: Exception) -> str:
    """Return file name and line of the position at which ``failure`` was raised."""
    frame = traceback.extract_tb(failure.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def show_trace(failure: BaseException) -> None:
    """Print the trace of a failure on standard error."""
    sys.stderr.write(trace(failure))


def _folder() -> Path:
    try:
        return paths.home() / FOLDER
    except ToolchainError:
        return paths.cache() / FOLDER
