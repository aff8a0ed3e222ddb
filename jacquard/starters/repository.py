"""The files of a repository of regions around `environments/`: program, policies, components, workflows, pins."""

from __future__ import annotations

from pathlib import Path

from components.specs.reading import schema
from components.specs.reading.kinds import KINDS
from jacquard.machine.pins import PIN_FILE, requirement
from jacquard.starters.region import FILES, NAME, renamed

_FOLDER = FILES / "repository"
_HIDDEN = {name: f".{name}" for name in ("gitignore", "gitattributes", "github", "gitlab-ci.yml")}
"""Names without the dot that a package's data may not begin with."""


def repository(region: str) -> dict[str, str]:
    """Return the files of a new repository by their path in it, those of `environments/` left out.

    Args:
        region: its first one.
    """
    found = sorted(path for path in _FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc")
    texts = {_name(path): renamed(path.read_text(encoding="utf-8"), NAME, region) for path in found}
    texts[PIN_FILE] = texts[PIN_FILE].removesuffix("jacquard\n") + f"{requirement()}\n"
    return texts | {f"{schema.FOLDER}/{schema.file_name(kind)}": schema.schema_text(kind) for kind in KINDS}


def _name(path: Path) -> str:
    first, *inner = path.relative_to(_FOLDER).parts
    return "/".join((_HIDDEN.get(first, first), *inner))
