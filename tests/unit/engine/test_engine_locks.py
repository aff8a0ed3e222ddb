"""Locks: Jacquard's lock ends with its process, the engine's lock must be checked."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jacquard.engine import locks
from jacquard.engine.errors import EngineError

SINCE = dt.datetime(2026, 11, 21, 13, 2, 11, tzinfo=dt.UTC)


def leave_lock(state: Path, pid: int, host: str, project: str = "jacquard") -> Path:
    file = state / ".pulumi" / "locks" / "organization" / project / "laptop" / "0a1b.json"
    file.parent.mkdir(parents=True)
    content = {"pid": pid, "username": "ada", "hostname": host, "timestamp": SINCE.isoformat()}
    file.write_text(json.dumps(content))
    return file


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_lock_of_a_dead_engine_of_this_machine_is_removed(tmp_path: Path) -> None:
    file = leave_lock(tmp_path, ended_process(), socket.gethostname())

    [holder] = locks.free(tmp_path, "laptop")

    assert holder.user == "ada"
    assert not file.exists()


def test_locks_are_those_of_the_project_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "environments").mkdir()
    (tmp_path / "Pulumi.yaml").write_text('description: ours\nname: "our-regions"  # not jacquard\n')
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS", raising=False)
    monkeypatch.chdir(tmp_path)
    file = leave_lock(tmp_path, ended_process(), socket.gethostname(), "our-regions")

    locks.free(tmp_path, "laptop")

    assert not file.exists()


def test_a_process_number_that_something_else_got_is_no_engine(tmp_path: Path) -> None:
    file = leave_lock(tmp_path, os.getpid(), socket.gethostname())

    locks.free(tmp_path, "laptop")

    assert not file.exists()


def test_the_lock_of_a_running_engine_is_respected_and_its_holder_named(tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(engine), "60"])
    try:
        file = leave_lock(tmp_path / "state", process.pid, socket.gethostname())
        with pytest.raises(EngineError) as stop:
            locks.free(tmp_path / "state", "laptop")
    finally:
        process.kill()
        process.wait()

    assert str(stop.value) == (
        f"laptop: locked by another operation: process {process.pid} of ada on {socket.gethostname()}, "
        f"since {SINCE.astimezone():%Y-%m-%d %H:%M:%S}; "
        "wait until it ends, or stop it with Ctrl-C where it runs, then run this again"
    )
    assert file.exists()


def test_the_lock_of_another_machine_is_respected_and_the_remedy_named(tmp_path: Path) -> None:
    file = leave_lock(tmp_path, ended_process(), "elsewhere")

    with pytest.raises(EngineError, match=r"&& pulumi cancel -s laptop'$"):
        locks.free(tmp_path, "laptop")

    assert file.exists()


@pytest.mark.parametrize(
    ("host", "what"), [(socket.gethostname(), "process"), ("elsewhere", "machine")], ids=["this machine", "another"]
)
def test_a_lock_reported_by_the_engine_is_shown_with_owner_and_remedy(host: str, what: str) -> None:
    message = (
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the "
        "lock file with `pulumi cancel`.\n"
        "  s3://states/.pulumi/locks/organization/jacquard/laptop.foundation/3781dd9b.json?region=us-east-1: "
        f"created by ada@{host} (pid {ended_process()}) at {SINCE.isoformat()}"
    )

    text = locks.reported("laptop.foundation", message)

    assert text is not None
    assert text.startswith("laptop.foundation: locked by another operation: process ")
    assert text.endswith(
        f" of ada on {host}, since {SINCE.astimezone():%Y-%m-%d %H:%M:%S}; wait until it ends; if that {what} no "
        "longer exists, remove the lock with 'eval \"$(jacquard env laptop)\" && pulumi cancel -s laptop.foundation'"
    )


def test_a_message_about_something_else_reports_no_lock() -> None:
    assert locks.reported("laptop", "error: no stack named 'laptop' found") is None


def test_a_file_that_is_no_lock_is_named_with_its_remedy(tmp_path: Path) -> None:
    file = leave_lock(tmp_path, 1, "elsewhere")
    file.write_text("{}")

    with pytest.raises(EngineError) as stop:
        locks.free(tmp_path, "laptop")

    assert str(stop.value) == (
        f"{file}: is not a lock of the engine; check that no 'pulumi' runs, then delete the file"
    )


def test_a_stack_without_locks_is_free(tmp_path: Path) -> None:
    assert locks.free(tmp_path, "laptop") == []


def test_of_two_commands_on_one_environment_the_second_is_refused(home: Path) -> None:
    with locks.exclusively("laptop", "up"), pytest.raises(EngineError) as stop, locks.exclusively("laptop", "down"):
        pass

    text = str(stop.value)
    assert text.startswith(f"laptop: locked by another command: jacquard up, process {os.getpid()} on ")
    assert text.endswith("; wait for its end, then run this again")
    assert (home / "locks" / "laptop.lock").read_text() == ""


def test_a_command_that_was_killed_leaves_no_lock(home: Path) -> None:
    del home
    code = (
        "import os, signal\n"
        "from jacquard.engine import locks\n"
        "with locks.exclusively('laptop', 'up'):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)

    assert killed.returncode == -9
    with locks.exclusively("laptop", "up"):
        pass


def test_a_starting_process_is_not_mistaken_for_an_ended_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tmp_path / "proc" / str(os.getpid())
    entry.mkdir(parents=True)
    (entry / "cmdline").write_bytes(b"")
    monkeypatch.setattr(locks, "_PROCESSES", tmp_path / "proc")
    leave_lock(tmp_path, os.getpid(), socket.gethostname())

    (entry / "stat").write_text("1 (pulumi) R 1 1")
    with pytest.raises(EngineError, match="locked by another operation"):
        locks.free(tmp_path, "laptop")
    (entry / "stat").write_text("1 (pulumi) Z 1 1")

    assert len(locks.free(tmp_path, "laptop")) == 1
