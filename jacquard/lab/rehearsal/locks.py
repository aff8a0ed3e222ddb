"""Locks between commands on one region.

The operating system holds a lock as long as its process runs. The lock of a killed command is therefore released
immediately, and stale locks do not exist.
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
    """Hold the lock at ``path`` while the block runs.

    Args:
        path: File of the lock; it may be removed while the lock is held.
        purpose: Purpose of the holder, shown to commands whose wait times out.
        shared: Allow other holders with ``shared``; exclude only exclusive holders.
        wait_seconds: Maximum time to wait for the lock.

    Raises:
        RehearsalError: Another command held the lock for longer than ``wait_seconds``.
    """

    def refusal(holder: str) -> RehearsalError:
        owner = holder or "another process"
        return RehearsalError(f"{path}: locked by {owner} for over {wait_seconds:g} s; wait for its end, or end it")

    owner = f"process {os.getpid()} ({purpose})"
    return locked(path, owner, shared=shared, refusal=refusal, wait_seconds=wait_seconds)
