"""Edits of lock files by commands; the result is checked before it is written."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from components.rules.checks import check, new_problems
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import entries_digest, lock_text, paired
from components.specs.reading.problems import SpecError
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.machine import paths, settings
from jacquard.machine.edits import Edit
from policies import new_violations


def with_locks(
    environment: Environment, numbers: AllocationsLock, pins: ImagesLock
) -> tuple[Environment, dict[Path, str]]:
    """Return ``environment`` with other lock files, and the texts of these files."""
    numbers, pins = paired(environment.name, numbers, pins)
    home = paths.environments() / environment.name
    texts = {home / ALLOCATIONS: lock_text(numbers), home / IMAGE_PINS: lock_text(pins)}
    return environment.model_copy(update={"allocations": numbers, "image_pins": pins}), texts


def write(
    edit: Edit, before: Environment, after: Environment, texts: Mapping[Path, str], *, now: dt.datetime | None = None
) -> None:
    """Write ``texts``, which turn ``before`` into ``after``, if `check` accepts the result at ``now``.

    Raises:
        SpecError: `check` would report a new problem; contains all of them.
        Stop: a policy would refuse an object; contains all violations.
    """
    if before != after:
        _require_acceptable(before, after, now or settings.now())
    edit.write(texts)


def _require_acceptable(before: Environment, after: Environment, now: dt.datetime) -> None:
    """Pass if a change of lock files leads to no problem and no refused object that ``before`` does not have.

    Raises:
        SpecError: `check` would report a new problem; contains all of them.
        Stop: a policy would refuse an object; contains all violations.
    """
    known = check(before)
    problems = new_problems(known, after)
    if problems:
        show("nothing was written, because 'jacquard check' would refuse the result", "note")
        raise SpecError(after.name, problems)
    if known or entries_digest(before.image_pins) == entries_digest(after.image_pins):
        return  # Policies judge only data without problems, and only pins select images and charts.
    refused = new_violations(before, after, now)
    if refused:
        text = "\n".join(map(str, refused))
        msg = f"nothing was written, because policies would refuse the result:\n{text}"
        raise Stop(msg, ExitCode.REFUSED)
