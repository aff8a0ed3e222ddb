"""A wheel of this clone in a repository of regions contains all that a run requires, and is not modified by it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jacquard.machine import paths
from policies.rules import RULES
from tests.support.docs.documents import DOCS, python_blocks
from tests.support.machine.installed_wheel import PACKAGES, install_beside_clone, wheel

_NOT_SHIPPED = {".pyc"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def regions(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installation of Jacquard only."""
    folder = tmp_path_factory.mktemp("work") / "regions"
    install_beside_clone(built, folder / ".venv")
    return folder


def run(regions: Path, *words: str, code: int = 0) -> str:
    """Run a program of the repository's ``.venv`` and return its output."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("JACQUARD_", "PYTHON"))}
    variables |= {"JACQUARD_CACHE": str(regions.parent / "cache"), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    command = [regions / ".venv" / "bin" / words[0], *words[1:]]
    done = subprocess.run(command, cwd=regions, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_contains_every_file_of_every_package(built: Path) -> None:
    found = {path for name in PACKAGES for path in (paths.ROOT / name).rglob("*") if path.is_file()}
    found |= {
        paths.ROOT / "jacquard/starters/files/catalog" / path.name for path in paths.ROOT.glob("environments/catalog/*")
    }
    wanted = {path.relative_to(paths.ROOT).as_posix() for path in found if path.suffix not in _NOT_SHIPPED}

    assert wanted - set(zipfile.ZipFile(built).namelist()) == set()


def test_the_installed_package_creates_and_checks_a_repository(regions: Path, built: Path, tmp_path: Path) -> None:
    installed = files(regions / ".venv")
    output = run(regions, "jacquard", "check", code=2)
    assert output.startswith(
        f"error: Pulumi.yaml: not found with a folder environments/ in {regions} or above it; change to"
    )

    run(regions, "jacquard", "new", "edge-1", "--repository", ".")
    assert f"\njacquard @ {built.as_uri()}\n" in (regions / "requirements.txt").read_text()
    run(regions, "jacquard", "allocate", "edge-1")
    assert f", {len(RULES) + 1} policies, " in run(regions, "jacquard", "check")
    run(regions, "jacquard", "render", "edge-1", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "first-train" / "kube-public" / "configmap-region-note.yaml").is_file()
    run(regions, "jacquard", "schema")
    assert files(regions / ".venv") == installed
    assert not (regions.parent / "cache").exists()

    (regions / "requirements.txt").write_text("jacquard==9.9.9\n")
    output = run(regions, "jacquard", "check", code=2)
    assert output.startswith(
        f"error: requirements.txt:1: pins jacquard==9.9.9, but jacquard @ {built.as_uri()} is installed"
    )


def test_the_code_that_ran_is_that_of_the_wheel(regions: Path) -> None:
    where = run(regions, "python", "-P", "-c", "from jacquard.machine import paths; print(paths.ROOT, paths.VENV)")

    [packages] = regions.glob(".venv/lib/python*/site-packages")
    assert where.split() == [str(packages), str(regions / ".venv")]
    assert str(paths.ROOT) not in where
    assert sys.prefix != str(regions / ".venv")


@pytest.mark.nightly
def test_programs_of_the_guide_pass_strict_type_checks(regions: Path) -> None:
    for number, program in enumerate(python_blocks(DOCS / "guides/use-as-a-library.md")):
        (regions / f"program_{number}.py").write_text(program, encoding="utf-8")

    run(regions, "python", "-m", "mypy", "--strict", "program_0.py", "program_1.py")
