"""Locks between processes of one machine; the kernel releases a lock when its owner exits."""

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

    Only the kernel's lock counts; the text in the file is for messages. A killed owner therefore cannot keep the
    lock, and a reused process number cannot be mistaken for an owner.

    Args:
        path: file of the lock. The file remains, empty, after the lock is released; it may be removed while the lock is
            held.
        owner: description of this process, for processes that wait.
        shared: exclude only processes that request an exclusive lock.
        waiting: called once, before waiting, with the text of the holder, which may be empty.
        refusal: returns the error after an unsuccessful wait, from the text of the holder; None waits without a limit.
        wait_seconds: waiting time before the refusal.

    Yields:
        The text of an owner that ended without releasing the lock; empty otherwise.

    Raises:
        Exception: the error that ``refusal`` returns.
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
            # The file is kept: after a deletion, two later processes could lock two different files.
            _write(handle, "")
        os.close(handle)


@contextmanager
def held(path: Path, purpose: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock ``path``, waiting for its current holder.

    Args:
        path: file of the lock.
        purpose: purpose of the lock, for processes that wait.
        say: prints the holder of the lock, and the takeover of a dead owner's lock.
    """
    with locked(
        path, _record(purpose), waiting=lambda text: say(f"waiting for {_owner(text) or 'another process'}")
    ) as left:
        if dead := _owner(left):
            say(f"taking over {path} from {dead}, which ended without releasing it")
        yield


def _take(path: Path, mode: int) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
        # The previous holder may have removed the file; this lock would then have no effect.
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
