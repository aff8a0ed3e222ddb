"""Shared fixtures of the command tests: environment laptop, an editable copy of it, and the runner."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.cli import local_region
from jacquard.cli.command import build
from jacquard.machine import paths
from jacquard.observe.observation import Observation
from tests.support.changes.previewed_change import LATER, STATE, Change
from tests.support.data.environment_data import copy_data
from tests.support.data.lock_files import write_locks
from tests.support.data.repositories import git
from tests.support.engine.fake_pulumi import FakePulumi, install
from tests.support.engine.recorded_region import Resource, record, recorded_region
from tests.support.objects.settled_region import settled_region

Invoke = Callable[..., Result]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data that this test may edit."""
    folder = copy_data(tmp_path / "environments", "laptop")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    return folder


@pytest.fixture
def faults(data_folder: Path) -> Path:
    """Add hosts of laptop that are out of service."""
    return data_folder / "laptop" / "out_of_service.yaml"


@pytest.fixture
def tests(data_folder: Path) -> Path:
    """Tests of the hosts of laptop."""
    return data_folder / "laptop" / "host_tests.yaml"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate home for files that a command writes on the machine."""
    folder = tmp_path / "home"
    monkeypatch.setenv("JACQUARD_HOME", str(folder))
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def pulumi(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    """Install a fake engine in place of the toolchain's."""
    return install(tmp_path / "bin", home, monkeypatch)


@pytest.fixture
def invoke(data_folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` in this process, without colour, on a copy of the data."""
    del data_folder, home
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("JACQUARD_BINARIES", raising=False)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(build(), list(arguments))

    return run


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replace a text in a file; fail if the file does not contain it."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text, f"{path} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    return replace


@pytest.fixture
def seen(laptop: Environment) -> Observation:
    """Responses of a reconciled laptop's API servers, which a test may change."""
    return settled_region(laptop)


@pytest.fixture
def two(data_folder: Path, edit: Callable[[Path, str, str], None]) -> Path:
    """Two environments on one backbone: laptop, and desk, which differs from it in its name only."""
    edit(data_folder / "laptop" / "region.yaml", "  vni: ", "  backbone: wan-1\n  vni: ")
    shutil.copytree(data_folder / "laptop", data_folder / "desk")
    edit(data_folder / "desk" / "region.yaml", "region: laptop", "region: desk")
    laptop = load_environment("laptop", data_folder)
    write_locks(load_environment("desk", data_folder), data_folder, laptop.allocations, laptop.image_pins)
    return data_folder


@pytest.fixture
def regions(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository with one region, as current folder of the user."""
    folder = tmp_path / "regions"
    made = invoke("new", "edge-1", "--repository", str(folder))
    assert made.exit_code == 0, made.output
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS")
    monkeypatch.chdir(folder / "environments" / "edge-1")
    assert invoke("allocate", "edge-1").exit_code == 0
    return folder


@pytest.fixture
def change(
    data_folder: Path,
    tmp_path: Path,
    invoke: Invoke,
    pulumi: FakePulumi,
    monkeypatch: pytest.MonkeyPatch,
    seen: Observation,
) -> Change:
    """A change of a repository to preview and apply."""
    monkeypatch.setenv("JACQUARD_NOW", LATER)
    monkeypatch.setattr(local_region, "revive", lambda *_: None)
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    git(data_folder.parent, "init", "-q", "-b", "main")
    (data_folder.parent / ".gitignore").write_text("/*\n!/environments\n")
    pulumi.answer("stack export", stdout=json.dumps(STATE))
    return Change(data_folder, tmp_path / "preview", invoke, pulumi, monkeypatch)


@pytest.fixture
def recorded(laptop: Environment, pulumi: FakePulumi) -> list[Resource]:
    """The resources of laptop as the last up recorded them; a test may change them and then calls `record`."""
    resources = copy.deepcopy(recorded_region(laptop))
    record(pulumi, resources)
    return resources
