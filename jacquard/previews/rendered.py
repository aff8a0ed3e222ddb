"""``python -m jacquard.previews.rendered ENVIRONMENTS NAME``: all objects by component, as JSON lines.

A comparison runs it in the files of an earlier commit, so that the code of that time renders its own objects.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.previews.bases import Base
from jacquard.previews.snapshots import Key, rendered
from stacks.extensions import joined

_FIELDS = ("body", "cluster", "retain", "protect")
"""What of an object decides what a change of it does."""


def rendered_by(base: Base, name: str) -> Mapping[Key, tuple[Manifest, ...]] | None:
    """Return the objects of environment ``name`` as the code of ``base`` renders them.

    None if it cannot: it is too old to be asked, or refuses its own data.
    """
    # A clone brings its own Jacquard; beside one that is installed, what a repository adds is found by its data.
    code = {} if base.installed else {"PYTHONPATH": str(base.code)}
    done = subprocess.run(
        [sys.executable, "-P", "-m", __name__, str(base.environments), name],
        cwd=base.code,
        env={**os.environ, **code, "JACQUARD_ENVIRONMENTS": str(base.environments)},
        capture_output=True,
        check=False,
    )
    return None if done.returncode else _read(done.stdout.splitlines())


def rendered_here(environment: Environment) -> Mapping[Key, tuple[Manifest, ...]]:
    """Return the objects of ``environment`` as this library renders them, in the form in which others are read."""
    return _read(_written(environment))


def _written(environment: Environment) -> Iterator[str]:
    for key, items in rendered(environment).items():
        fields = [{name: getattr(item, name) for name in _FIELDS} for item in items]
        yield json.dumps({"component": key, "objects": fields})


def _read(lines: Iterable[str | bytes]) -> dict[Key, tuple[Manifest, ...]]:
    found: dict[Key, tuple[Manifest, ...]] = {}
    for line in lines:
        said = json.loads(line)
        piece, kind, component = said["component"]
        found[piece, kind, component] = tuple(Manifest(**fields) for fields in said["objects"])
    return found


def main() -> None:
    """Write the objects."""
    folder, name = sys.argv[1:]
    for line in _written(joined(load_environment(name, Path(folder)))):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
