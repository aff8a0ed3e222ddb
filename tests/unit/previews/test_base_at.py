"""Lifetime of the extracted files of a base."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from jacquard.previews.bases import base_at
from tests.support.data.environment_data import copy_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Committed data."""
    folder = copy_data(tmp_path / "environments", "laptop")
    for command in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return folder


def test_the_files_of_the_base_go_when_the_block_ends(folder: Path, tmp_path: Path) -> None:
    with base_at(folder, tmp_path / "elsewhere", "HEAD", "pin.txt") as base:
        assert (base.environments / "laptop" / "region.yaml").exists()
        assert (base.code, base.installed, base.pinned_otherwise) == (None, True, False)

    assert not base.environments.exists()


def test_a_python_whose_archives_have_no_filters_will_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract = tarfile.TarFile.extractall

    def without_filters(archive: tarfile.TarFile, path: Path) -> None:
        extract(archive, path)

    monkeypatch.delattr(tarfile, "data_filter")
    monkeypatch.setattr(tarfile.TarFile, "extractall", without_filters)

    with base_at(folder, tmp_path / "elsewhere", "HEAD", "pin.txt") as base:
        assert (base.environments / "laptop" / "region.yaml").exists()
