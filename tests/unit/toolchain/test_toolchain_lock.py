"""One process at a time builds; others wait for a live process, never for a dead one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jacquard.machine import paths
from jacquard.machine.lock import held

HOLD = """
import sys
from pathlib import Path
from jacquard.machine.lock import held

with held(Path(sys.argv[1]), "building", print):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def owner(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=paths.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_free_lock_is_acquired_silently_and_left_empty(tmp_path: Path) -> None:
    messages: list[str] = []
    path = tmp_path / "cache" / "build.lock"
    for _ in range(2):
        with held(path, "building", messages.append):
            assert f'"pid": {os.getpid()}' in path.read_text()
        assert path.read_text() == ""
    assert messages == []


def test_an_error_releases_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "build.lock"
    with pytest.raises(KeyboardInterrupt), held(path, "building", print):
        raise KeyboardInterrupt
    assert path.read_text() == ""


def test_a_dead_owners_lock_is_taken_over_with_a_message(tmp_path: Path) -> None:
    messages: list[str] = []
    path = tmp_path / "build.lock"
    with owner(path) as process:
        process.send_signal(signal.SIGKILL)
    with held(path, "building", messages.append):
        pass

    [line] = messages
    assert line.startswith(f"taking over {path} from process {process.pid} on ")
    assert line.endswith("), which ended without releasing it")


def test_a_live_owner_is_waited_for_by_name(tmp_path: Path) -> None:
    messages: list[str] = []
    waiting = threading.Event()
    taken = threading.Event()
    path = tmp_path / "build.lock"

    def say(text: str) -> None:
        messages.append(text)
        waiting.set()

    def wait() -> None:
        with held(path, "building", say):
            taken.set()

    with owner(path) as process:
        waiter = threading.Thread(target=wait)
        waiter.start()
        assert waiting.wait(timeout=30)
        assert not taken.is_set()
    waiter.join(timeout=30)

    assert taken.is_set()
    [line] = messages
    assert line.startswith(f"waiting for process {process.pid} on ")
    assert f" in {paths.ROOT} (building since " in line


def test_an_unreadable_owner_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "build.lock"
    path.write_text("{half a rec")
    messages: list[str] = []
    with held(path, "building", messages.append):
        pass
    assert messages == []
