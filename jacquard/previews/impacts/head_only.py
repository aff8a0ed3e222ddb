"""Determines the parts of a region that a single edit changes, by applying only this edit to the base."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import yaml

from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from jacquard.previews.impacts.edits import Edit, Steps, with_edit
from jacquard.previews.snapshots import Key, Side, same, side
from stacks.extensions import joined

MOST = 12
"""Maximum number of edits that are tried; each try loads the environment again."""


class Alone:
    """Applies edits one at a time to the files of the base, and determines the changed components."""

    def __init__(self, base: Side, environments: Path) -> None:
        self._base = base
        self._environments = environments
        self._tried: dict[tuple[str, Steps], frozenset[Key] | None] = {}

    def may_touch(self, edit: Edit, key: Key) -> bool:
        """Return whether ``edit`` alone changes the component ``key``; true if unknown."""
        place = (edit.file, edit.steps)
        if place not in self._tried and len(self._tried) < MOST:
            self._tried[place] = self._changed(edit)
        changed = self._tried.get(place)
        return changed is None or key in changed

    def _changed(self, edit: Edit) -> frozenset[Key] | None:
        name = self._base.environment.name
        with tempfile.TemporaryDirectory(prefix="jacquard-edit-") as folder:
            copy = Path(shutil.copytree(self._environments, Path(folder) / "environments", ignore=_others(name)))
            path = copy / name / edit.file
            text = _with(path, edit)
            if text is None:
                return None
            path.write_text(text, encoding="utf-8")
            try:
                after = side(joined(load_environment(name, copy))).parts
            except (SpecError, KeyError):
                return None
            before = self._base.parts
            return frozenset(key for key in before.keys() | after.keys() if not same(before.get(key), after.get(key)))


def _others(name: str) -> Any:
    """Return an ``ignore`` function for ``copytree`` that excludes other environments."""
    return lambda folder, names: [
        entry for entry in names if (Path(folder) / entry / "region.yaml").exists() and entry != name
    ]


def _with(path: Path, edit: Edit) -> str | None:
    """Return the text of a file of the base with ``edit`` applied; None if the file is missing or not YAML."""
    if path.suffix != ".yaml" or not path.exists():
        return None
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return yaml.safe_dump(with_edit(document, edit.steps, edit.new), sort_keys=False, allow_unicode=True)
