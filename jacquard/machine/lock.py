"""Locks between processes of one machine; the kernel holds them, so the death of an owner always releases them."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jacquard.machine import paths

_POLL_SECONDS = 0.1


@contextmanager
def locked(
    path: Path,
    owner: str,
    *,
    shared: bool = False,
    waiting: Callable[[str], None] | None = None,
    refusal: Callable[[str], Exception] | None = None,
    wait_seconds: float = 0.0,
) -> Iterator[str]:
    """Hold the lock ``path`` while the block runs.

    The kernel's lock decides, the text in the file only says who: so an owner that was killed can neither keep the
    lock nor lose it to somebody who mistakes a reused process number for it.

    Args:
        path: the lock's file. It stays, empty, when nobody holds the lock; it may be removed while the lock is held.
        owner: who asks, for those who come later.
        shared: exclude only those who want the lock for themselves.
        waiting: is told once what the holder wrote, which may be nothing, before the wait for it begins.
        refusal: makes the error for a wait in vain from what the holder wrote; without it the wait has no end.
        wait_seconds: how long to wait before a refusal.

    Yields:
        What an owner that died left in the file; nothing after one that released the lock.

    Raises:
        Exception: the one that ``refusal`` makes.
    """
    end = time.monotonic() + wait_seconds
    while (handle := _take(path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)) is None:
        if refusal and time.monotonic() >= end:
            raise refusal(_text(path))
        if waiting:
            waiting(_text(path))
            waiting = None
        time.sleep(_POLL_SECONDS)
    try:
        left = _text(path)
        _write(handle, owner)
        yield left
    finally:
        if not shared:
            # The file itself stays: to delete it would let two later processes lock two different files.
            _write(handle, "")
        os.close(handle)


@contextmanager
def held(path: Path, purpose: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock ``path``, waiting for whoever holds it.

    Args:
        path: the lock's file.
        purpose: what the owner does, for those who wait.
        say: is told for whom this waits, and that a dead owner's lock is taken over.
    """
    with locked(
        path, _record(purpose), waiting=lambda text: say(f"waiting for {_owner(text) or 'another process'}")
    ) as left:
        if dead := _owner(left):
            say(f"taking over {path} from {dead}, which has ended without releasing it")
        yield


def _take(path: Path, mode: int) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
        # The holder before may have removed the file: then this is a lock on nothing.
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""


def _write(handle: int, text: str) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, text.encode(), 0)


def _owner(text: str) -> str:
    try:
        return "process {pid} on {host} in {clone} ({purpose} since {since})".format(**json.loads(text))
    except (ValueError, KeyError, TypeError):
        return ""


def _record(purpose: str) -> str:
    record = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "clone": str(paths.project()),
        "purpose": purpose,
        "since": time.strftime("%H:%M:%S"),
    }
    return json.dumps(record)
