"""Files are replaced atomically, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.machine.files import replace_private, replace_text


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_text_is_replaced_in_its_mode_and_only_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "map.svg"

    assert replace_text(path, "old")
    assert mode(path) == 0o644
    path.chmod(0o640)
    before = path.stat().st_ino
    assert not replace_text(path, "old")
    assert path.stat().st_ino == before
    assert replace_text(path, "new")

    assert (path.read_text(), mode(path)) == ("new", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        replace_text(tmp_path / "gone" / "map.svg", "text")

    assert caught.value.filename == str(tmp_path / "gone" / "map.svg")
    assert caught.value.strerror == "No such file or directory"


def test_a_private_file_is_only_readable_by_its_owner_with_any_previous_mode(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfigs" / "acme.yaml"

    assert replace_private(path, b"token")
    assert not replace_private(path, "token")
    path.chmod(0o644)
    assert replace_private(path, "token")

    assert (path.read_bytes(), mode(path)) == (b"token", 0o600)
