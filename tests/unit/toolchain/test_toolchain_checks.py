"""All problems of a machine are reported together, one line each, with remedies."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.lab.toolchain import binaries, checks, tools
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.lab.toolchain.tools import Tool
from jacquard.machine import paths

ETCD = next(family for family in FAMILIES if family.name == "etcd")
GO = Tool(name="go", path=Path("/usr/bin/go"), version=(1, 26, 8))


def there(name: str) -> Tool:
    return Tool(name=name, path=Path("/usr/bin") / name, version=(9, 9, 9))


def nowhere(_name: str) -> None:
    return None


def plenty(_folder: Path) -> int:
    return 1 << 40


@pytest.mark.usefixtures("cache")
def test_a_ready_machine_has_no_problems() -> None:
    assert checks.problems([ETCD], go=GO, venv=True, find=there, free=plenty) == []


def test_all_problems_are_reported_together(cache: Path) -> None:
    assert checks.problems([ETCD], go=None, venv=True, find=nowhere, free=lambda _folder: 1 << 20) == [
        "go: is not on PATH; install Go 1.26.6 or newer from go.dev/dl",
        "git: is not on PATH; install it with the system's package manager",
        "make: is not on PATH; install it with the system's package manager",
        (
            f"disk: building etcd needs {checks.size(ETCD.disk_bytes)}, {cache} has 1 MiB free; "
            "free some space, or choose a folder on a larger disk with JACQUARD_CACHE"
        ),
        f"disk: creating .venv needs 400 MiB, {paths.ROOT} has 1 MiB free; free some space",
    ]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("version", "found"), [((1, 25, 9), "1.25.9"), (None, "of unknown version")], ids=["old", "mute"]
)
def test_an_unfit_go_is_named(version: tuple[int, int, int] | None, found: str) -> None:
    go = Tool(name="go", path=Path("/usr/bin/go"), version=version)
    assert checks.problems([ETCD], go=go, venv=False, find=there, free=plenty) == [
        f"go: /usr/bin/go is {found}, needs 1.26.6 or newer; install Go 1.26.6 or newer from go.dev/dl"
    ]
    assert checks.usable(go) is None


@pytest.mark.usefixtures("cache")
def test_go_and_space_are_only_required_for_builds() -> None:
    assert checks.problems([], go=None, venv=False, find=there, free=lambda _folder: 0) == []


def test_an_unwritable_cache_is_one_problem(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert checks.problems([ETCD], go=GO, venv=False, find=there, free=lambda _folder: 0) == [
        f"cache: cannot write to {cache} (file exists); make it writable, or choose another folder with JACQUARD_CACHE"
    ]


@pytest.mark.usefixtures("cache")
def test_a_home_outside_the_cache_must_be_writable_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "file" / "home"
    home.parent.touch()
    monkeypatch.setenv("JACQUARD_HOME", str(home))
    assert checks.problems([], go=GO, venv=False, find=there, free=plenty) == [
        (
            f"cache: cannot write to {home} (not a directory); make it writable, or choose another folder with "
            "JACQUARD_HOME"
        )
    ]


@pytest.mark.usefixtures("cache")
def test_a_clone_that_cannot_be_written_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "file" / "clone"
    root.parent.touch()
    monkeypatch.setattr(paths, "ROOT", root)
    assert checks.problems([], go=GO, venv=False, find=there, free=plenty) == [
        f"clone: cannot write to {root} (not a directory); make it writable, or clone to another folder"
    ]


@pytest.mark.usefixtures("cache")
def test_files_of_an_interrupted_build_count_as_free_space() -> None:
    objects = binaries.workspace() / "objects"
    objects.mkdir(parents=True)
    with (objects / "one").open("wb") as file:
        file.truncate(ETCD.disk_bytes)

    assert checks.space_problem([ETCD], lambda _folder: 0) == ""


def test_missing_ensurepip_names_the_package(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not cache.exists()
    monkeypatch.setattr(checks.importlib.util, "find_spec", lambda _name: None)
    assert checks.problems([], go=GO, venv=True, find=there, free=plenty) == [
        (
            "python: the modules venv and ensurepip are missing; install them "
            "(Debian and Ubuntu: apt-get install python3-venv)"
        )
    ]


def test_tools_are_searched_on_path(search_path: Path, fake_go: Path) -> None:
    assert tools.find("go") == Tool(name="go", path=fake_go, version=(1, 26, 8))
    assert tools.find("git") is None

    broken = search_path / "make"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert tools.find("make") == Tool(name="make", path=broken, version=None)


@pytest.mark.parametrize(("count", "text"), [(0, "0 MiB"), (512 << 20, "512 MiB"), (3 << 29, "1.5 GiB")])
def test_sizes_are_human_readable(count: int, text: str) -> None:
    assert checks.size(count) == text
