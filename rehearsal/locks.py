"""Locks between commands on one region.

They are held by the operating system for as long as the command lives, so a lock of a command that was killed is free
at once and there is nothing stale to clear.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehearsal.errors import RehearsalError

_POLL_SECONDS = 0.1


@contextmanager
def held(path: Path, purpose: str, *, shared: bool = False, wait_seconds: float = 300.0) -> Iterator[None]:
    """Hold the lock at ``path`` while the block runs; others with ``shared`` may hold it too.

    Args:
        path: The lock's file; it may be removed while the lock is held.
        purpose: What the holder does, told to those who wait in vain.
        shared: Exclude only those who want it for themselves.
        wait_seconds: Patience.

    Raises:
        RehearsalError: Another command held it for longer than ``wait_seconds``.
    """
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    end = time.monotonic() + wait_seconds
    while (handle := _take(path, mode)) is None:
        if time.monotonic() > end:
            msg = f"{path}: held by {_holder(path)} for over {wait_seconds:g} s; wait for it to end, or end it"
            raise RehearsalError(msg)
        time.sleep(_POLL_SECONDS)
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} ({purpose})".encode(), 0)
        yield
    finally:
        os.close(handle)


def _take(path: Path, mode: int) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
        # The holder before may have removed the file: then this is a lock on nothing.
        if os.fstat(handle).st_nlink and os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(handle)
    return None


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") or "another process"
    except FileNotFoundError:
        return "another process"
