"""Edits of data: one at a time, on current files, and written completely or not at all."""

from __future__ import annotations

import errno
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jacquard.machine import edits
from jacquard.machine.edits import editing, recover
from jacquard.machine.errors import ToolchainError


class KilledError(BaseException):
    """Interrupts a write as a kill would: no handler runs."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("desk/numbers", "desk/pins", "catalog/images"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("old")
    return tmp_path / "data"


def texts(folder: Path) -> dict[str, str]:
    """Return the text of every file, hidden files included."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


OLD = {"desk/numbers": "old", "desk/pins": "old", "catalog/images": "old"}
NEW = OLD | {"desk/numbers": "new", "desk/pins": "new"}


def both(folder: Path, text: str = "new") -> dict[Path, str]:
    return {folder / "desk" / "numbers": text, folder / "desk" / "pins": text}


def test_only_files_that_change_are_written_and_nothing_is_left(folder: Path) -> None:
    (folder / "desk" / "pins").chmod(0o640)

    with editing(folder, ["desk"], "promote") as edit:
        assert edit.write(both(folder, "old")) == []
        assert edit.write({**both(folder), folder / "desk" / "inventory" / "hall-a.csv": "host"}) == [
            *both(folder),
            folder / "desk" / "inventory" / "hall-a.csv",
        ]
        assert edit.write({folder / "desk" / "pins": "newer"}) == [folder / "desk" / "pins"]

    assert texts(folder) == NEW | {"desk/pins": "newer", "desk/inventory/hall-a.csv": "host"}
    assert (folder / "desk" / "pins").stat().st_mode & 0o777 == 0o640
    assert (folder / "desk" / "inventory" / "hall-a.csv").stat().st_mode & 0o777 == 0o644


def test_a_second_edit_waits_and_reads_the_result_of_the_first(folder: Path) -> None:
    waits, holders = threading.Event(), []

    def second() -> None:
        def waiting(holder: str) -> None:
            holders.append(holder)
            waits.set()

        with editing(folder, ["desk"], "allocate", waiting) as edit:
            before = (folder / "desk" / "pins").read_text()
            edit.write({folder / "desk" / "pins": f"{before}, allocated"})

    with editing(folder, ["desk"], "promote") as edit:
        before = (folder / "desk" / "pins").read_text()
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        edit.write({folder / "desk" / "pins": f"{before}, promoted"})
    thread.join()

    assert texts(folder) == OLD | {"desk/pins": "old, promoted, allocated"}
    [holder] = holders
    assert holder.startswith(f"jacquard promote, process {os.getpid()} on ")


def test_an_edit_that_never_ends_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "WAIT_SECONDS", 0.0)
    with (
        editing(folder, ["desk"], "promote"),
        pytest.raises(ToolchainError, match="data: locked by jacquard promote, process") as caught,
        editing(folder, ["desk"], "allocate"),
    ):
        pass
    assert str(caught.value).endswith("; wait for its end, then run this again")


def test_a_file_changed_by_another_program_is_not_overwritten(folder: Path) -> None:
    with editing(folder, ["desk", "catalog"], "promote") as edit:
        (folder / "desk" / "pins").write_text("pulled")
        (folder / "catalog" / "versions").write_text("added")
        with pytest.raises(ToolchainError) as caught:
            edit.write(both(folder))

    remedy = "was changed while this command ran; nothing was written, run the command again"
    assert str(caught.value) == f"data/catalog/versions: {remedy}\ndata/desk/pins: {remedy}"
    assert texts(folder) == OLD | {"desk/pins": "pulled", "catalog/versions": "added"}


def test_a_change_in_another_environment_is_none_of_this_edit(folder: Path) -> None:
    with editing(folder, ["desk"], "promote") as edit:
        (folder / "catalog" / "images").write_text("added")
        edit.write(both(folder))

    assert texts(folder) == NEW | {"catalog/images": "added"}


@pytest.mark.parametrize("place", range(4), ids=["before the commit", "before the first", "between both", "at the end"])
@pytest.mark.parametrize("command", ["reader", "edit"])
def test_an_edit_whose_process_was_killed_is_finished_by_the_next_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: int, command: str
) -> None:
    steps = iter(range(4))

    def step() -> None:
        if next(steps) == place:
            raise KilledError

    with monkeypatch.context() as patched:
        for name in ("rename", "replace"):
            original = getattr(Path, name)
            patched.setattr(Path, name, lambda old, new, original=original: (step(), original(old, new))[1])
        original_rmtree = edits.shutil.rmtree

        def rmtree(path: Path, **options: bool) -> None:
            if path.name == edits.JOURNAL:
                step()
                original_rmtree(path, **options)

        patched.setattr(edits.shutil, "rmtree", rmtree)
        with pytest.raises(KilledError), editing(folder, ["desk"], "promote") as edit:
            edit.write(both(folder))

    if command == "reader":
        recover(folder)
    else:
        with editing(folder, ["desk"], "allocate") as edit:
            edit.write({folder / "catalog" / "images": "added"})

    shown = {name: text for name, text in texts(folder).items() if not name.startswith(f"{edits.JOURNAL}.")}
    images = {} if command == "reader" else {"catalog/images": "added"}
    assert shown == (OLD if place == 0 else NEW) | images
    if command == "edit" or place:
        assert sorted(path.name for path in folder.iterdir()) == ["catalog", "desk"]


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(edits.os, "fsync", fail)
        yield errno.ENOSPC


@contextmanager
def bounded_files(_: pytest.MonkeyPatch) -> Iterator[int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        yield errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    with monkeypatch.context() as patched:
        patched.setattr(edits.os, "access", lambda *_: False)
        yield errno.EACCES


@contextmanager
def other_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    def fail(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        yield errno.EXDEV


@pytest.mark.parametrize("failure", [full_disk, bounded_files, read_only_folder, other_disk])
def test_a_failed_write_names_the_file_and_keeps_all_content(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failure: object
) -> None:
    with editing(folder, ["desk"], "promote") as edit:
        with failure(monkeypatch) as number, pytest.raises(OSError, match=r"Errno") as caught:  # type: ignore[operator]
            edit.write(both(folder, 10_000 * "n"))
        assert texts(folder).items() >= OLD.items()
        assert (caught.value.errno, caught.value.filename) == (number, str(folder / "desk" / "numbers"))

    assert texts(folder) == OLD


def test_a_folder_that_cannot_be_written_can_be_read_and_only_a_change_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder / edits.LOCK))

    monkeypatch.setattr(edits, "locked", fail)
    with editing(folder, ["desk"], "promote") as edit:
        assert edit.write(both(folder, "old")) == []
        with pytest.raises(OSError, match="Read-only file system") as caught:
            edit.write(both(folder))

    assert caught.value.filename == str(folder / "desk" / "numbers")
    assert texts(folder) == OLD


def test_a_folder_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    with editing(tmp_path / "gone", ["desk"], "promote"):
        pass

    assert list(tmp_path.iterdir()) == []
