"""Child processes of a stand-in: each leads its own process group and never outlives the stand-in."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

GRACE_SECONDS = 5.0
"""How long a child has to end by itself after SIGTERM before its whole group is killed."""

_POLL_SECONDS = 0.02


class Children:
    """The running children of this process, so that all of them can be ended at once.

    A child leads its own process group: what a shell started ends together with the shell.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Return whether everything was ended and nothing more is started."""
        return self._closed

    def start(  # the keyword arguments are those of Popen, spelled out so that callers are type-checked
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start ``command`` in a process group of its own.

        Raises:
            OSError: the program cannot be started, or the stand-in is about to end.
        """
        with self._lock:
            if self._closed:
                message = "cancelled, so no new process is started"
                raise InterruptedError(message)
            child = subprocess.Popen(
                command, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, process_group=0
            )
            self._running[child.pid] = child
        return child

    def forget(self, child: subprocess.Popen[bytes]) -> None:
        """Stop tracking a child that has ended; what it left running in the background on purpose stays."""
        with self._lock:
            self._running.pop(child.pid, None)

    def end(self, *, grace_seconds: float = GRACE_SECONDS, closed: bool = False) -> None:
        """End all children with their groups: SIGTERM, then SIGKILL for those alive after ``grace_seconds``.

        Args:
            grace_seconds: how long to wait between the two signals.
            closed: also refuse to start further children.
        """
        with self._lock:
            self._closed = self._closed or closed
            children = list(self._running.values())
        end_groups(children, grace_seconds=grace_seconds)


def end_groups(children: Sequence[subprocess.Popen[bytes]], *, grace_seconds: float = GRACE_SECONDS) -> None:
    """End children with their groups: SIGTERM, then SIGKILL for those alive after ``grace_seconds``."""
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
