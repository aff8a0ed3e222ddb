"""Progress output: one line for each step, updated in place on a terminal."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import TextIO

_SUBJECT_WIDTH = 27


class Progress:
    """Prints steps to a stream, by default standard output."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"

    def say(self, subject: str, text: str) -> None:
        """Print a finished step or a decision."""
        self._write(f"{_line(subject, text)}\n")

    def running(self, subject: str, expected_seconds: float) -> Callable[[float], None]:
        """Return a callback that prints the elapsed time of a step, on a terminal only."""

        def tick(elapsed: float) -> None:
            if self._live:
                width = shutil.get_terminal_size().columns - 1
                text = f"{duration(elapsed)} of about {duration(expected_seconds)}"
                self._write(_line(subject, text)[:width])

        tick(0)
        return tick

    def end_line(self) -> None:
        """End the line of an unfinished step."""
        if self._live:
            self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\033[K{text}" if self._live else text)
        self._stream.flush()


def duration(seconds: float) -> str:
    """Format seconds as seconds or minutes."""
    rounded = round(seconds)
    return f"{rounded} s" if rounded < 60 else f"{rounded // 60} min {rounded % 60:02} s"  # noqa: PLR2004  (a minute)


def _line(subject: str, text: str) -> str:
    return f"  {subject:<{_SUBJECT_WIDTH}} {text}"
