"""The commit that an operator is to apply, in a repository with and without changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jacquard.previews.base_commits import BaseError
from jacquard.previews.reviewed_commit import reviewed_commit
from tests.support.data.environment_data import copy_data


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with committed data."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(copy_data(tmp_path / "environments", "laptop")))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "data")
    return tmp_path


def test_the_commit_is_the_one_that_is_checked_out(repository: Path) -> None:
    assert reviewed_commit() == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("file", ["environments/laptop/region.yaml", "environments/laptop/tenants/new.yaml"])
def test_changed_and_new_files_of_the_data_are_refused(repository: Path, file: str) -> None:
    path = repository / file
    path.write_text(f"{path.read_text() if path.exists() else ''}# changed\n")

    with pytest.raises(BaseError) as caught:
        reviewed_commit()

    assert str(caught.value) == (
        f"{file} differs from the commit that is checked out, and the operator applies only commits; commit and push"
        " the changes"
    )


def test_several_changed_files_are_counted(repository: Path) -> None:
    for name in ("a", "b", "c"):
        (repository / "environments" / "laptop" / f"{name}.yaml").touch()

    with pytest.raises(BaseError, match=r"^environments/laptop/a\.yaml and 2 more differ from the commit"):
        reviewed_commit()


def test_settings_of_stacks_and_files_outside_the_data_may_differ(repository: Path) -> None:
    (repository / "environments" / "Pulumi.laptop.engine.yaml").touch()
    (repository / "notes.txt").touch()

    assert reviewed_commit() == git(repository, "rev-parse", "HEAD")
