"""What a preview is made from, by digest: data files, the code that renders and judges, objects, the impact.

Names of commits are no input: a squash merge with the same files is the same.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from components.inputs.manifests import manifests
from components.lookups.slices import Slice, slices
from components.render.manifest import objects
from components.specs.base import StackLayout
from components.specs.environment import Environment
from components.specs.reading.kinds import data_files
from jacquard.machine import paths
from jacquard.previews.attestations.digests import digest, impact_digest, sha256
from jacquard.previews.impacts.impact import Impact
from stacks.target import stack_names

CODE = ("components", "policies", "jacquard", "stacks")
"""Packages that decide what is applied, and what is refused."""
_OWN = ("components", "policies")
"""Folders of a repository of regions that add to them."""
_TEXTS = (".py", ".yaml")


def inputs(environment: Environment, impact: Impact, states: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each input of a preview, by the name that people know it by.

    Args:
        environment: as it is previewed.
        impact: what the change does to it.
        states: digest of what is recorded of each of its stacks that the engine is asked about.
    """
    return {
        **dict(_files(environment.name)),
        **dict(_code()),
        **{f"state of stack {stack}": found for stack, found in states.items()},
        "impact": impact_digest(impact),
    }


def rendered(environment: Environment, stacks: Container[str]) -> dict[str, str]:
    """Return the digest of all objects of each of ``stacks``, by its name."""
    names, pieces = stack_names(environment), slices(environment)
    if environment.region.stacks is StackLayout.WHOLE:
        return {names[0]: _objects(environment, pieces)} if names[0] in stacks else {}
    pairs = zip(names, pieces, strict=True)
    return {name: _objects(environment, (piece,)) for name, piece in pairs if name in stacks}


def _objects(environment: Environment, pieces: tuple[Slice, ...]) -> str:
    return digest(
        [
            [piece.name, one.cluster, one.retain, one.protect, one.body]
            for piece in pieces
            for one in objects(manifests(environment, piece))
        ]
    )


def _files(name: str) -> Iterator[tuple[str, str]]:
    """Yield the files that say what a region is to be; words of tenants are looked at when it is applied."""
    folder = paths.environments()
    found = [path for path, kind in data_files(folder, [name]) if kind.of_region]
    for path in (*found, *sorted((folder / name).glob("inventory/*.csv"))):
        yield f"{folder.name}/{path.relative_to(folder).as_posix()}", sha256(path.read_bytes())


def _code() -> Iterator[tuple[str, str]]:
    yield from ((f"code of {part}", _tree(paths.ROOT / part)) for part in CODE)
    project = paths.own()
    if project:
        yield from ((f"own {part}", _tree(project / part)) for part in _OWN if (project / part).is_dir())


def _tree(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.suffix in _TEXTS and path.is_file())
    return digest([[path.relative_to(folder).as_posix(), sha256(path.read_bytes())] for path in files])
