"""Edits of lock files and host states by commands; the result is checked before it is written."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from components.allocate.faults import Exchange, exchange, with_fault, with_faults_of, without_fault
from components.allocate.host_moves import Move, entry
from components.lookups.host_states.table import LifecycleState
from components.rules.checks import check, errors, new_problems
from components.specs.environment import Environment
from components.specs.hosts.host_tests import host_tests_text
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, HOST_TESTS, IMAGE_PINS, OUT_OF_SERVICE
from components.specs.reading.lock_text import entries_digest, lock_text, paired
from components.specs.reading.problems import SpecError
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes.lock_changes import changes, file_changes
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
        require_acceptable(before, after, now)
    edit.write(texts)


def move_host(edit: Edit, spec: Environment, move: Move) -> tuple[Environment, Exchange, list[str]]:
    """Write the transition ``move``; return the changed environment, the effect on the pool and the diff of files.

    Raises:
        SpecError: `check` would report a new problem; contains all of them.
        Stop: a policy would refuse an object; contains all violations.
    """
    name, home = move.host.host, paths.environments() / spec.name
    path = home / OUT_OF_SERVICE
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if move.to is not LifecycleState.PRODUCTION:
        after = with_fault(before, name, entry(spec, move, settings.now()))
    else:
        after = without_fault(before, name) if name in spec.out_of_service else before
    changed, texts = (with_faults_of(spec, after), {path: after}) if after != before else (spec, {})
    diff = file_changes(f"{spec.name}/{OUT_OF_SERVICE}", before, after)
    if move.evidence is not None:
        record = move.evidence.record.model_copy(update={"by": move.by})
        changed = changed.model_copy(update={"host_tests": {**spec.host_tests, name: record}})
        tests, text = home / HOST_TESTS, host_tests_text(changed.host_tests)
        known = tests.read_text(encoding="utf-8") if tests.exists() else ""
        texts[tests] = text
        diff += file_changes(f"{spec.name}/{HOST_TESTS}", known, text)
    done = exchange(changed, name)
    if done.locks:
        diff += changes(spec, *done.locks)
        changed, lock_texts = with_locks(changed, *done.locks)
        texts |= lock_texts
    write(edit, spec, changed, texts)
    return changed, done, diff


def require_acceptable(before: Environment, after: Environment, now: dt.datetime | None = None) -> None:
    """Pass if a change of the data leads to no problem and no refused object that ``before`` does not have.

    Raises:
        SpecError: `check` would report a new problem; contains all of them.
        Stop: a policy would refuse an object; contains all violations.
    """
    now = now or settings.now()
    today = now.astimezone(dt.UTC).date()
    known = check(before)
    problems = errors(new_problems(known, after), today)
    if problems:
        show("nothing was written, because 'jacquard check' would refuse the result", "note")
        raise SpecError(after.name, problems)
    if errors(known, today) or entries_digest(before.image_pins) == entries_digest(after.image_pins):
        return  # Policies judge only data without problems, and only pins select images and charts.
    refused = new_violations(before, after, now)
    if refused:
        text = "\n".join(map(str, refused))
        msg = f"nothing was written, because policies would refuse the result:\n{text}"
        raise Stop(msg, ExitCode.REFUSED)
