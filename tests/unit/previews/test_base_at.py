"""The files of a base are there for a while."""

from __future__ import annotations

import subprocess
from pathlib import Path

from environment_data import copy_data

from previews.bases import base_at


def test_the_files_of_the_base_go_when_the_block_ends(tmp_path: Path) -> None:
    folder = copy_data(tmp_path / "environments", "laptop")
    for command in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)

    with base_at(folder, tmp_path / "elsewhere", "HEAD", "pin.txt") as base:
        assert (base.environments / "laptop" / "region.yaml").exists()
        assert (base.code, base.installed, base.pinned_otherwise) == (None, True, False)

    assert not base.environments.exists()
