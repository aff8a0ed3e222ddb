"""A truncated state is reported as one error with the restore command, which restores a readable state."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from jacquard.engine.driver import Engine
from jacquard.engine.errors import EngineError
from tests.support.engine.small_project import small_project

pytestmark = pytest.mark.e2e


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real engine in a repository of regions, with a stack, its state and a backup of the state."""
    engine = small_project(tmp_path, monkeypatch)
    engine.prepare("edge-1")
    assert engine.run("up", "edge-1", "--yes").code == 0
    return engine


@pytest.mark.parametrize("content", [b'{"version": 3, "checkpoint": {"stack": "edge', b"<html>502</html>"])
def test_a_damaged_state_is_restored_by_the_command_in_its_error(engine: Engine, content: bytes) -> None:
    assert engine.file_state is not None
    file = engine.file_state / ".pulumi" / "stacks" / "looms" / "edge-1.json"
    before = engine.look("edge-1").resources
    file.write_bytes(content)

    with pytest.raises(EngineError) as listing:
        engine.stacks()
    with pytest.raises(EngineError) as damage:
        engine.prepare("edge-1")

    assert str(listing.value).startswith("the stacks cannot be listed, because a state is damaged (")
    assert str(listing.value).endswith("; 'jacquard preview edge-1' names it, with a remedy")
    text = str(damage.value)
    assert text.startswith("edge-1: its state is damaged (")
    assert text.endswith(
        f" with 'cp {file}.bak {file}', then run 'jacquard up edge-1', which adopts objects that the state lacks"
    )
    assert file.read_bytes() == content

    subprocess.run(shlex.split(text.partition(" with '")[2].partition("'")[0]), check=True)
    assert engine.prepare("edge-1").repairs == []
    assert engine.run("up", "edge-1", "--yes").code == 0
    assert engine.look("edge-1").resources == before


def test_a_state_whose_copy_is_damaged_is_restored_from_the_last_complete_backup(engine: Engine) -> None:
    assert engine.file_state is not None
    assert engine.run("up", "edge-1", "--yes").code == 0
    file = engine.file_state / ".pulumi" / "stacks" / "looms" / "edge-1.json"
    before = engine.look("edge-1").resources
    *_, last = sorted((engine.file_state / ".pulumi" / "backups" / "looms" / "edge-1").iterdir())
    for damaged in (file, file.with_name("edge-1.json.bak"), last):
        damaged.write_bytes(b"")

    with pytest.raises(EngineError, match="restore the last complete backup with") as damage:
        engine.prepare("edge-1")

    subprocess.run(shlex.split(str(damage.value).partition(" with '")[2].partition("'")[0]), check=True)
    assert engine.run("up", "edge-1", "--yes").code == 0
    assert engine.look("edge-1").resources == before


def test_an_incomplete_lock_file_blocks_no_operation(engine: Engine) -> None:
    assert engine.file_state is not None
    folder = engine.file_state / ".pulumi" / "locks" / "organization" / "looms" / "edge-1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "8d776fb9.json.18ec7459bf26eed3.tmp").touch()
    assert "unexpected end of JSON input" in engine.run("up", "edge-1", "--yes").tail

    assert len(engine.prepare("edge-1").repairs) == 1

    assert engine.run("up", "edge-1", "--yes").code == 0


def test_a_damaged_state_without_a_complete_copy_is_removed(engine: Engine) -> None:
    assert engine.file_state is not None
    stacks, backups = engine.file_state / ".pulumi" / "stacks", engine.file_state / ".pulumi" / "backups"
    file = stacks / "looms" / "edge-1.json"
    file.with_name("edge-1.json.bak").unlink()
    for backup in (backups / "looms" / "edge-1").iterdir():
        backup.unlink()
    file.write_bytes(b"{")

    with pytest.raises(EngineError) as damage:
        engine.look("edge-1")

    subprocess.run(shlex.split(str(damage.value).partition(" with '")[2].partition("'")[0]), check=True)
    assert not engine.look("edge-1").made
