"""Inputs of a preview, by digest: data files, the code that renders and checks, objects, and the impact.

Commit names are not an input: a squash merge with the same files has the same inputs.
"""

from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from components.inputs.manifests import manifests
from components.lookups.slices import Slice, slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.reading.kinds import data_files
from components.specs.region.state import StackLayout
from jacquard.machine import paths
from jacquard.previews.attestations.digests import digest, impact_digest, sha256
from jacquard.previews.impacts.impact import Impact
from stacks.target import stack_names

CODE = ("components", "jacquard/providers", "policies", "stacks")
"""Packages that determine the applied objects and the policies."""
_EXTENSIONS = "extensions"
"""Folder of a user's repository with additional components and policies."""
_TEXTS = (".py", ".yaml")


def inputs(environment: Environment, impact: Impact, states: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each input of a preview, by a readable name.

    Args:
        environment: previewed environment.
        impact: impact of the change on that environment.
        states: digest of the recorded state of each stack that the engine previews.
    """
    return {
        **dict(_files(environment.name)),
        **dict(_code()),
        **{f"state of stack {stack}": state for stack, state in states.items()},
        "impact": impact_digest(impact),
    }


def rendered(environment: Environment, stacks: Container[str]) -> dict[str, str]:
    """Return the digest of all objects of each of ``stacks``, by stack name."""
    names, pieces = stack_names(environment), slices(environment)
    if environment.region.stacks is StackLayout.WHOLE:
        return {names[0]: _objects(environment, pieces)} if names[0] in stacks else {}
    pairs = zip(names, pieces, strict=True)
    return {name: _objects(environment, (piece,)) for name, piece in pairs if name in stacks}


def _objects(environment: Environment, pieces: tuple[Slice, ...]) -> str:
    return digest(
        [
            [piece.name, manifest.cluster, manifest.retain, manifest.protect, manifest.body]
            for piece in pieces
            for manifest in objects(manifests(environment, piece))
        ]
    )


def _files(name: str) -> Iterator[tuple[str, str]]:
    """Yield the files that declare a region, without approvals, which the apply checks."""
    folder = paths.environments()
    files = [path for path, kind in data_files(folder, [name]) if kind.of_region]
    for path in (*files, *sorted((folder / name).glob("inventory/*.csv"))):
        yield f"{folder.name}/{path.relative_to(folder).as_posix()}", sha256(path.read_bytes())


def _code() -> Iterator[tuple[str, str]]:
    yield from ((f"code of {part}", _tree(paths.ROOT / part)) for part in CODE)
    project = paths.own()
    if project:
        yield _EXTENSIONS, _tree(project / _EXTENSIONS)


def _tree(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.suffix in _TEXTS and path.is_file())
    return digest([[path.relative_to(folder).as_posix(), sha256(path.read_bytes())] for path in files])
