"""Locks between commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.service import held

HOLDER = """
import sys, time
from pathlib import Path
from jacquard.lab.rehearsal.service import held
with held(Path(sys.argv[1]), "up management"):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_waiting_command_names_the_owner_of_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as other:
        with pytest.raises(RehearsalError) as caught, held(path, "up acme", wait_seconds=0.2):
            pass
        other.kill()

    assert str(caught.value) == (
        f"{path}: locked by process {other.pid} (up management) for over 0.2 s; wait for its end, or end it"
    )


def test_the_lock_of_a_killed_command_is_released_immediately(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as other:
        other.kill()
    assert path.read_text() == f"process {other.pid} (up management)"

    with held(path, "up management", wait_seconds=0):
        assert path.read_text() == f"process {os.getpid()} (up management)"


def test_shared_locks_only_exclude_exclusive_ones(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    def refused(*, shared: bool) -> bool:
        try:
            with held(path, "another", shared=shared, wait_seconds=0):
                return False
        except RehearsalError:
            return True

    with held(path, "up a", shared=True):
        assert not refused(shared=True)
        assert refused(shared=False)
    with held(path, "down"):
        assert refused(shared=True)


def test_a_lock_whose_file_was_deleted_is_acquired_again(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, "down"):
        path.unlink()
        with held(path, "up", wait_seconds=0):
            assert path.exists()
