"""Locks between commands on one region.

They are held by the operating system for as long as the command lives, so a lock of a command that was killed is free
at once and there is nothing stale to clear.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.machine.lock import locked


def held(
    path: Path, purpose: str, *, shared: bool = False, wait_seconds: float = 300.0
) -> AbstractContextManager[object]:
    """Hold the lock at ``path`` while the block runs; others with ``shared`` may hold it too.

    Args:
        path: The lock's file; it may be removed while the lock is held.
        purpose: What the holder does, told to those who wait in vain.
        shared: Exclude only those who want it for themselves.
        wait_seconds: Patience.

    Raises:
        RehearsalError: Another command held it for longer than ``wait_seconds``.
    """

    def refusal(holder: str) -> RehearsalError:
        others = holder or "another process"
        return RehearsalError(f"{path}: held by {others} for over {wait_seconds:g} s; wait for it to end, or end it")

    owner = f"process {os.getpid()} ({purpose})"
    return locked(path, owner, shared=shared, refusal=refusal, wait_seconds=wait_seconds)
