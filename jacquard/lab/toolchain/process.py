"""Runs one long command: its output goes to a log, its whole process group ends with us."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jacquard.machine.errors import ToolchainError

TAIL_LINES = 15
_GRACE_SECONDS = 5.0


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    tick: Callable[[float], None],
) -> float:
    """Run ``command`` to its end and return the seconds it took.

    Args:
        command: program and arguments.
        what: its name in an error.
        folder: its working directory.
        environment: its whole environment.
        log: file that receives stdout and stderr, rewritten.
        tick: is called twice a second with the seconds so far.

    Raises:
        ToolchainError: it cannot be started or fails; names the log and quotes its end.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with log.open("wb") as output:
        try:
            child = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            message = f"{what}: cannot start {command[0]}: {error.strerror}"
            raise ToolchainError(message) from error
        code = _waited(child, start, tick)
    seconds = time.monotonic() - start
    if code:
        message = f"{what}: failed after {seconds:.0f} s (exit code {code}); the end of {log}:\n{tail(log)}"
        raise ToolchainError(message)
    return seconds


def _waited(child: subprocess.Popen[bytes], start: float, tick: Callable[[float], None]) -> int:
    """Return the exit code of ``child`` once it has ended; whatever interrupts the wait ends it."""
    try:
        while True:
            try:
                return child.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                tick(time.monotonic() - start)
    except BaseException:
        _end(child)
        raise


def tail(log: Path) -> str:
    """Return the last lines of a log, indented."""
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"    {line}" for line in lines) or "    (no output)"


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child's process group, politely first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
