"""A lock that one process on a machine holds at a time and that its death always releases."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from toolchain import paths


@contextmanager
def held(path: Path, purpose: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock ``path``, waiting for whoever holds it.

    The kernel's lock decides, the text in the file only says who: so an owner that was killed can neither keep the
    lock nor lose it to somebody who mistakes a reused process number for it.

    Args:
        path: the lock's file; it stays, empty, when nobody holds the lock.
        purpose: what the owner does, for those who wait.
        say: is told for whom this waits, and that a dead owner's lock is taken over.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for {_owner(file) or 'another process'}")
            fcntl.flock(file, fcntl.LOCK_EX)
        dead = _owner(file)
        if dead:
            say(f"taking over {path} from {dead}, which has ended without releasing it")
        _write(file, purpose)
        try:
            yield
        finally:
            file.truncate(0)


def _owner(file: TextIO) -> str:
    file.seek(0)
    try:
        record = json.loads(file.read())
        return "process {pid} on {host} in {clone} ({purpose} since {since})".format(**record)
    except (ValueError, KeyError, TypeError):
        return ""


def _write(file: TextIO, purpose: str) -> None:
    record = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "clone": str(paths.ROOT),
        "purpose": purpose,
        "since": time.strftime("%H:%M:%S"),
    }
    file.truncate(0)
    file.write(json.dumps(record))
    file.flush()
