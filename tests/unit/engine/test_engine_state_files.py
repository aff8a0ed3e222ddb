"""Files of a stack in a file backend: leftovers of incomplete writes, disk space, and restored states."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jacquard.engine import damaged_states, locks, state_files
from jacquard.engine.errors import EngineError

STACK = "laptop.foundation"
DAMAGE = f"{STACK}: its state cannot be read: failed to load checkpoint: unexpected end of JSON input"
GIB = 1 << 30


def folder_of(state: Path, name: str) -> Path:
    folder = state / ".pulumi" / name / "jacquard" / STACK
    folder.mkdir(parents=True)
    return folder


def write_state(state: Path, content: bytes, *, copy: bytes | None = None) -> Path:
    """Write the state of the stack and the copy from before its last write."""
    file = state_files.file_of(state, STACK)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    if copy is not None:
        file.with_name(f"{file.name}.bak").write_bytes(copy)
    return file


def write_backup(state: Path, moment: int, content: bytes) -> Path:
    """Write a backup of the stack from the end of an operation."""
    folder = state / ".pulumi" / "backups" / "jacquard" / STACK
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{STACK}.{moment}.json"
    file.write_bytes(content)
    return file


def disk_with(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(GIB, GIB - free, free))  # type: ignore[attr-defined]


def test_rests_of_unfinished_writes_are_removed_and_everything_else_is_kept(tmp_path: Path) -> None:
    file = write_state(tmp_path, b"{}", copy=b"{}")
    backups, history = (folder_of(tmp_path, name) for name in ("backups", "history"))
    lock = locks.lock_folder(tmp_path, STACK)
    lock.mkdir(parents=True)
    rests = [
        lock / "8d776fb9.json.18ec7459bf26eed3.tmp",
        file.with_name(f"{file.name}.18ec7459bf26eed3.tmp"),
        file.with_name(f"{file.name}.bak.18ec7459bf26eed3.tmp"),
        backups / f"{STACK}.1795.json.18ec7459bf26eed3.tmp",
        history / f"{STACK}-1795.checkpoint.json.18ec7459bf26eed3.tmp",
    ]
    kept = [
        lock / "8d776fb9.json",
        backups / f"{STACK}.1795.json",
        history / f"{STACK}-1795.checkpoint.json",
        file.with_name("laptop.foundation-2.json.18ec7459bf26eed3.tmp"),
        file.with_name("laptop.json.18ec7459bf26eed3.tmp"),
    ]
    for path in (*rests, *kept):
        path.touch()

    assert state_files.remove_rests(tmp_path, STACK) == len(rests)

    assert [path for path in rests if path.exists()] == []
    assert [path for path in (file, *kept) if not path.exists()] == []
    assert state_files.remove_rests(tmp_path, STACK) == 0


def test_a_stack_that_was_never_applied_has_no_rests_and_no_copy(tmp_path: Path) -> None:
    assert state_files.remove_rests(tmp_path / "absent", STACK) == 0
    assert state_files.last_copy(tmp_path / "absent", STACK) is None


def test_a_disk_with_room_is_accepted_also_before_its_folder_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_with(monkeypatch, GIB)

    state_files.require_room(tmp_path / "absent" / "state", STACK)


def test_the_room_that_an_operation_needs_grows_with_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_with(monkeypatch, 40 << 20)
    write_state(tmp_path, b" " * (1 << 20))
    state_files.require_room(tmp_path, STACK)

    write_state(tmp_path, b" " * (3 << 20))
    with pytest.raises(EngineError) as full:
        state_files.require_room(tmp_path, STACK)

    assert str(full.value) == (
        f"{STACK}: the disk of {tmp_path} has 40 MiB of free space, and the state needs 44 MiB during an operation; "
        "nothing was changed; free space on this disk, then run this again"
    )


@pytest.mark.parametrize("cut", range(0, 100, 5))
def test_a_state_that_is_cut_anywhere_is_restored_from_the_copy_before_the_last_write(tmp_path: Path, cut: int) -> None:
    whole = json.dumps({"version": 3, "checkpoint": {"stack": STACK}}).encode()
    file = write_state(tmp_path, whole[: len(whole) * cut // 100], copy=whole)
    write_backup(tmp_path, 1, whole)

    assert str(damaged_states.reported(STACK, DAMAGE, "file://", tmp_path)).endswith(
        f"; restore the copy from before the last write with 'cp {file}.bak {file}', then run 'jacquard up laptop', "
        "which adopts objects that the state lacks"
    )


@pytest.mark.parametrize("copy", [None, b"", b'{"version": 3, "checkpo', b"[]"])
def test_a_damaged_copy_is_skipped_for_the_last_complete_backup(tmp_path: Path, copy: bytes | None) -> None:
    file = write_state(tmp_path, b"", copy=copy)
    write_backup(tmp_path, 1, b'{"version": 3}')
    complete = write_backup(tmp_path, 2, b'{"version": 3}')
    write_backup(tmp_path, 3, b"")

    assert f"restore the last complete backup with 'cp {complete} {file}'" in str(
        damaged_states.reported(STACK, DAMAGE, "file://", tmp_path)
    )


def test_a_state_whose_copies_are_all_damaged_is_removed(tmp_path: Path) -> None:
    file = write_state(tmp_path, b"", copy=b"")
    write_backup(tmp_path, 3, b"{")

    assert f"remove it with 'rm {file}', because it has no complete copy" in str(
        damaged_states.reported(STACK, DAMAGE, "file://", tmp_path)
    )
