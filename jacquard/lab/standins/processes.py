"""Child processes of a stand-in: each has its own process group and ends with the stand-in."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

GRACE_SECONDS = 5.0
"""Time between SIGTERM and SIGKILL of a child's process group."""

_POLL_SECONDS = 0.02


class Children:
    """Registry of this process's running children, which can be ended together.

    Each child has its own process group, so that processes started by a shell end with the shell.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Return whether no further children are started."""
        return self._closed

    def start(  # the keyword arguments of Popen, listed so that type checkers check the callers
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start ``command`` in a new process group.

        Raises:
            OSError: the program cannot be started, or no further children are started.
        """
        with self._lock:
            if self._closed:
                message = "cancelled; no new process is started"
                raise InterruptedError(message)
            child = subprocess.Popen(
                command, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, process_group=0
            )
            self._running[child.pid] = child
        return child

    def forget(self, child: subprocess.Popen[bytes]) -> None:
        """Remove an ended child from the registry; its background processes keep running."""
        with self._lock:
            self._running.pop(child.pid, None)

    def end(self, *, grace_seconds: float = GRACE_SECONDS, closed: bool = False) -> None:
        """End all process groups: SIGTERM, then SIGKILL after ``grace_seconds``.

        Args:
            grace_seconds: maximum time between the two signals.
            closed: reject further children.
        """
        with self._lock:
            self._closed = self._closed or closed
            children = list(self._running.values())
        end_groups(children, grace_seconds=grace_seconds)


def end_groups(children: Sequence[subprocess.Popen[bytes]], *, grace_seconds: float = GRACE_SECONDS) -> None:
    """End the process groups of children: SIGTERM, then SIGKILL after ``grace_seconds``."""
    for child in children:
        _signal_group(child, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while any(child.poll() is None for child in children) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    for child in children:
        _signal_group(child, signal.SIGKILL)


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
