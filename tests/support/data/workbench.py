"""A copy of an example environment for tests to break and fix, with the commands of users."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.allocate.allocation import allocate
from components.rollout.promotion import Promotion
from components.rules.checks import check, check_data
from components.specs.environment import Environment
from components.specs.keys import DPUS
from components.specs.locks import AllocationsLock
from components.specs.pools.intents import NodeIntent
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS, load_environment
from components.specs.reading.lock_text import paired
from components.specs.reading.problems import Problem, SpecError
from tests.support.changes.promotion import promote
from tests.support.checks.places import resolved
from tests.support.data.lock_files import write_locks


class Workbench:
    """The files of one environment in a separate folder."""

    def __init__(self, root: Path, name: str = "laptop") -> None:
        self.root = root
        self.name = name

    @property
    def folder(self) -> Path:
        return self.root / self.name

    def load(self) -> Environment:
        return load_environment(self.name, self.root)

    def resolved(self, text: str) -> str:
        """Return an expected text with the lines of its markers in the files of this environment."""
        return resolved(text, self.folder)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace the first occurrence of ``old`` in ``file`` (relative to the environment); fail if there is none."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} does not contain {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def sign(self) -> None:
        """Update the seals of edited lock files, as a command would, and keep the edits."""
        environment = self.load()
        before = (environment.allocations, environment.image_pins)
        for lock, after in zip(before, paired(self.name, *before), strict=True):
            path = self.folder / (ALLOCATIONS if isinstance(lock, AllocationsLock) else IMAGE_PINS)
            text = path.read_text(encoding="utf-8")
            for key in ("beside", "digest"):
                text = text.replace(f"{key}: {getattr(lock, key)}", f"{key}: {getattr(after, key)}")
            path.write_text(text, encoding="utf-8")

    def intend(self, name: str, field: str, value: Any) -> None:
        """Change an intent of the lock file, including its name."""
        environment = self.load()
        pins = environment.image_pins
        intent = pins.intents[name].model_dump(mode="json") | {field: value}
        moved = NodeIntent.model_validate_json(json.dumps(intent))
        groups = {key: moved.name if one == name else one for key, one in pins.groups.items()}
        intents = {one: intent for one, intent in pins.intents.items() if one != name} | {moved.name: moved}
        changed = pins.model_copy(update={"intents": intents, "groups": groups})
        write_locks(environment, self.root, environment.allocations, changed)

    def allocate(self) -> None:
        """Write the result of ``jacquard allocate``, even if the data are invalid."""
        environment = self.load()
        write_locks(environment, self.root, *allocate(environment))

    def allocate_checked(self, *, edits_meant: bool = False) -> None:
        """Run ``jacquard allocate``, including its checks."""
        if problems := check_data(self.load(), edits_meant=edits_meant):
            raise SpecError(self.name, problems)
        self.allocate()

    def promote(self, pool: str, version: str) -> None:
        """Run ``jacquard promote`` for all nodes immediately."""
        environment = self.load()
        write_locks(environment, self.root, environment.allocations, promote(environment, pool, version))

    def promote_dpus(self, *, newest_templates: bool = False) -> None:
        """Promote all DPUs to the data immediately."""
        environment = self.load()
        pins = Promotion(environment, DPUS, "data", newest_templates=newest_templates).all_at_once()
        write_locks(environment, self.root, environment.allocations, pins)

    def problems(self) -> tuple[Problem, ...]:
        """Return the problems of ``jacquard check``; empty if the data are valid."""
        try:
            return tuple(check(self.load()))
        except SpecError as error:
            return error.problems

    def report(self) -> str:
        """Return the report of ``jacquard check``; empty if the data are valid."""
        problems = self.problems()
        return str(SpecError(self.name, problems)) if problems else ""
