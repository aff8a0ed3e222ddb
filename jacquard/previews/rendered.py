"""``python -m jacquard.previews.rendered ENVIRONMENTS NAME``: all objects by component, as JSON lines.

A comparison runs this module in the files of the base commit, so that the base renders with its own code.
"""

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
"""Fields of a manifest that determine the effect of a change."""


def rendered_by(base: Base, name: str) -> Mapping[Key, tuple[Manifest, ...]] | None:
    """Return the objects of environment ``name`` as rendered by the code of ``base``.

    Return None if rendering fails: the code is too old for this interface, or rejects its own data.
    """
    # A base clone runs its own Jacquard. An installed Jacquard finds extensions by the folder of environments.
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
    """Return the objects of ``environment`` as rendered by this library, in the same form as `rendered_by`."""
    return _read(_written(environment))


def _written(environment: Environment) -> Iterator[str]:
    for key, items in rendered(environment).items():
        fields = [{name: getattr(item, name) for name in _FIELDS} for item in items]
        yield json.dumps({"component": key, "objects": fields})


def _read(lines: Iterable[str | bytes]) -> dict[Key, tuple[Manifest, ...]]:
    by_component: dict[Key, tuple[Manifest, ...]] = {}
    for line in lines:
        entry = json.loads(line)
        piece, kind, component = entry["component"]
        by_component[piece, kind, component] = tuple(Manifest(**fields) for fields in entry["objects"])
    return by_component


def main() -> None:
    """Write the objects."""
    folder, name = sys.argv[1:]
    for line in _written(joined(load_environment(name, Path(folder)))):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
