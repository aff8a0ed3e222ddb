"""Generates the files of a repository of regions around `environments/`: program, policies, components, workflows."""

from __future__ import annotations

from pathlib import Path

from components.specs.reading import schema
from components.specs.reading.kinds import KINDS
from jacquard.machine.pins import PIN_FILE, requirement
from jacquard.starters.region import FILES, NAME, renamed

_FOLDER = FILES / "repository"
_HIDDEN = {name: f".{name}" for name in ("gitignore", "gitattributes", "github", "gitlab-ci.yml")}
"""Files whose names in the package lack the leading dot, because package data cannot start with a dot."""


def repository(region: str) -> dict[str, str]:
    """Return the files of a new repository by path, without those of `environments/`.

    Args:
        region: name of the first region.
    """
    paths = sorted(path for path in _FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc")
    texts = {_name(path): renamed(path.read_text(encoding="utf-8"), NAME, region) for path in paths}
    texts[PIN_FILE] = texts[PIN_FILE].removesuffix("jacquard\n") + f"{requirement()}\n"
    return texts | {f"{schema.FOLDER}/{schema.file_name(kind)}": schema.schema_text(kind) for kind in KINDS}


def _name(path: Path) -> str:
    first, *inner = path.relative_to(_FOLDER).parts
    return "/".join((_HIDDEN.get(first, first), *inner))
