"""Generates the files of a new environment: a working example, or a copy of an existing region's structure."""

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml.comments import CommentedMap

from components.specs.environment import Environment
from components.specs.fleet.fleet import RegionStatus
from components.specs.natural import natural
from components.specs.reading import schema
from components.specs.reading.edits import edited, loaded
from components.specs.reading.kinds import KINDS
from components.specs.reading.loader import CATALOG, REGION
from components.specs.reading.lock_text import entry_text
from jacquard.machine.paths import DATA
from jacquard.machine.pins import PIN_FILE, requirement
from jacquard.starters.hosts import HEADER, example_hosts

NAME = "starter"
"""Name of the region in the example files."""
FILES = Path(str(files("jacquard.starters").joinpath("files")))
"""Source folder of new files; Jacquard's packages are installed as folders."""
_EXAMPLES = (REGION, "tenants/first.yaml")


def example(name: str, halls: Sequence[str]) -> dict[str, str]:
    """Return the files of an example region by path in its folder: simulated hardware, one tenant.

    Args:
        name: name of the region.
        halls: halls with example hosts; at most `jacquard.starters.hosts.MAX_HALLS`.
    """
    texts = {path: (FILES / path).read_text(encoding="utf-8") for path in _EXAMPLES}
    texts = {path: renamed(text, NAME, name) for path, text in texts.items()}
    texts[REGION] = with_halls(texts[REGION], halls)
    return texts | {_inventory(hall): example_hosts(hall, index) for index, hall in enumerate(halls)}


def like(environment: Environment, folder: Path, name: str, halls: Sequence[str]) -> dict[str, str]:
    """Return the files of a region with the structure of an existing region, without tenants, hosts and related data.

    Args:
        environment: the existing region.
        folder: folder of the existing region; comments and order of its files are kept.
        name: name of the new region; it replaces every occurrence of the old name as a separate word.
        halls: halls of the new region; if empty, the halls of the existing region.
    """
    text = renamed((folder / REGION).read_text(encoding="utf-8"), environment.name, name)
    there = [hall for site in environment.region.sites for hall in site.halls]
    headers = (_first_line(folder / _inventory(hall)) for hall in there)
    hosts = dict.fromkeys(map(_inventory, halls or there), next(filter(None, headers), HEADER))
    return {REGION: with_halls(text, halls) if halls else text, **hosts}


def with_building(text: str, region: str) -> str:
    """Return the text of a ``fleet.yaml`` with ``region`` as ``building``; the other fields are unknown and omitted.

    Regions are sorted by name, but the first one remains first, because comments above it may be about it.
    """

    def edit(document: Any) -> Any:
        [(name, entry)] = loaded(entry_text({region: {"status": RegionStatus.BUILDING.value}})).items()
        regions = document.get("regions") or CommentedMap()
        regions.insert(sum(natural(other) < natural(region) for other in regions) or 1, name, entry)
        document["regions"] = regions
        return document

    return edited(text, edit)


def renamed(text: str, before: str, after: str) -> str:
    """Return ``text`` with ``before`` replaced by ``after`` where it is not part of a longer word."""
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(before)}(?![A-Za-z0-9])", after, text)


def with_halls(text: str, halls: Sequence[str]) -> str:
    """Return a ``region.yaml`` whose first site has ``halls``; the rest is unchanged."""
    node = _value(_value(yaml.compose(text, yaml.CSafeLoader), "sites").value[0], "halls")
    begin, old = node.start_mark.index, text[node.start_mark.index : node.end_mark.index].rstrip()
    return text[:begin] + entry_text(list(halls)) + text[begin + len(old) :]


def _value(mapping: Any, key: str) -> Any:
    """Return the node of ``key``, which exists because the environment was loaded."""
    return next(value for name, value in mapping.value if name.value == key)


def _inventory(hall: str) -> str:
    return f"inventory/hall-{hall}.csv"


def _first_line(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open(encoding="utf-8") as lines:
        return lines.readline()


_FOLDER = FILES / "repository"
_DOTTED = (
    "devcontainer",
    "dockerignore",
    "gitattributes",
    "github",
    "gitignore",
    "gitlab-ci.yml",
    "pre-commit-config.yaml",
)
_HIDDEN = {name: f".{name}" for name in _DOTTED}
"""Files whose names in the package lack the leading dot, because package data cannot start with a dot."""


def catalogue() -> dict[str, str]:
    """Return the files of the example catalogue by path in a repository."""
    paths = sorted((FILES / CATALOG).glob("*.yaml"))
    return {f"{DATA}/{CATALOG}/{path.name}": path.read_text(encoding="utf-8") for path in paths}


def schemas() -> dict[str, str]:
    """Return the schemas of the data files by path in a repository."""
    return {f"{schema.FOLDER}/{schema.file_name(kind)}": schema.schema_text(kind) for kind in KINDS}


def repository(region: str) -> dict[str, str]:
    """Return the files of a new repository by path, without `environments/` and `schemas/`.

    Args:
        region: name of the first region.
    """
    paths = sorted(path for path in _FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc")
    texts = {_name(path): renamed(path.read_text(encoding="utf-8"), NAME, region) for path in paths}
    texts[PIN_FILE] = texts[PIN_FILE].removesuffix("jacquard\n") + f"{requirement()}\n"
    return texts


def _name(path: Path) -> str:
    first, *inner = path.relative_to(_FOLDER).parts
    return "/".join((_HIDDEN.get(first, first), *inner))
