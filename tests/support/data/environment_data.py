"""The reference environments, including the region of ``jacquard new``, and copies of their data for tests to edit."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from components.allocate.allocation import allocate
from components.specs.environment import Environment
from components.specs.reading.loader import CATALOG, environments, load_environment
from jacquard.machine import paths
from jacquard.starters.region import FILES, NAME, example
from tests.support.data.lock_files import write_locks

ENVIRONMENTS = paths.ROOT / "environments"
LAPTOP = ENVIRONMENTS / "laptop"
STARTER = NAME
"""Name of the region in the files that ``jacquard new`` writes."""
REFERENCES = (*environments(ENVIRONMENTS), STARTER)
"""Names of the environments that every check of rendered objects covers."""
SMALL = tuple(name for name in REFERENCES if name != "us-east-04a")
"""`REFERENCES` without the large region, whose inventory takes a minute to load."""


@cache
def reference(name: str) -> Environment:
    """Return a reference environment."""
    return load_environment(name, root_of(name))


def root_of(name: str) -> Path:
    """Return the folder with the data of a reference environment and its catalogue."""
    return _starter() if name == STARTER else ENVIRONMENTS


@cache
def root_of_all() -> Path:
    """Return a folder with all reference environments, for commands that only read."""
    root = _starter()
    for name in environments(ENVIRONMENTS):
        shutil.copytree(ENVIRONMENTS / name, root / name)
    return root


@cache
def _starter() -> Path:
    """Write and allocate the region of ``jacquard new``, once per process."""
    root = Path(tempfile.mkdtemp(prefix="starter-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    shutil.copytree(FILES / CATALOG, root / CATALOG)
    for path, text in example(STARTER, ["a"]).items():
        (root / STARTER / path).parent.mkdir(parents=True, exist_ok=True)
        (root / STARTER / path).write_text(text, encoding="utf-8")
    environment = load_environment(STARTER, root)
    write_locks(environment, root, *allocate(environment))
    return root


def copy_data(folder: Path, *names: str) -> Path:
    """Copy the catalogue and the environments ``names`` into ``folder``, which must not exist yet, and return it."""
    for name in ("catalog", *names):
        (folder / name).mkdir(parents=True)
        for path, content in _files(name):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    return folder


def copy_fleet(folder: Path) -> None:
    """Copy what the home of the fleet reads of other regions into ``folder``, which has the home."""
    for path in (ENVIRONMENTS / "fleet.yaml", *sorted(ENVIRONMENTS.glob("*/region.yaml"))):
        copy = folder / path.relative_to(ENVIRONMENTS)
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, copy)


@cache
def _files(name: str) -> tuple[tuple[Path, bytes], ...]:
    """Return the files of an environment; cached, since thousands of tests copy them."""
    root = root_of(name)
    files = sorted(path for path in (root / name).rglob("*") if path.is_file())
    return tuple((path.relative_to(root), path.read_bytes()) for path in files)
