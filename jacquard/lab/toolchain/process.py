"""Run a long command; its output is written to a log, and its process group ends with this process."""

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
    """Run ``command``, wait for its end and return its duration in seconds.

    Args:
        command: program and arguments.
        what: name of the command in error messages.
        folder: working directory.
        environment: all environment variables of the command.
        log: file for stdout and stderr; overwritten.
        tick: called twice a second with the elapsed seconds.

    Raises:
        ToolchainError: the command cannot be started or fails; the message contains the last lines of the log.
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
        code = _wait(child, start, tick)
    seconds = time.monotonic() - start
    if code:
        message = f"{what}: failed after {seconds:.0f} s (exit code {code}); last lines of {log}:\n{tail(log)}"
        raise ToolchainError(message)
    return seconds


def _wait(child: subprocess.Popen[bytes], start: float, tick: Callable[[float], None]) -> int:
    """Wait for ``child`` and return its exit code; any exception during the wait ends it."""
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
    """End the child's process group with SIGTERM, then with SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
