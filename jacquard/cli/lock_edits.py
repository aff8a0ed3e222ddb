"""Edits of lock files and host states by commands; the result is checked before it is written."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.allocate.faults import Exchange, exchanges, with_faults, with_faults_of, without_faults
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
from jacquard.machine.files import existing_text
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


def move_hosts(edit: Edit, spec: Environment, moves: Sequence[Move]) -> tuple[list[Exchange], list[str]]:
    """Write the transitions of different hosts; return the effects on their pools and the diff of files.

    Raises:
        SpecError: `check` would report a new problem; contains all of them.
        Stop: a policy would refuse an object; contains all violations.
    """
    home = paths.environments() / spec.name
    before, after = _faults(home / OUT_OF_SERVICE, spec, moves)
    changed, texts = (with_faults_of(spec, after), {home / OUT_OF_SERVICE: after}) if after != before else (spec, {})
    diff = file_changes(f"{spec.name}/{OUT_OF_SERVICE}", before, after)
    records = {
        move.host.host: move.evidence.record.model_copy(update={"by": move.by}) for move in moves if move.evidence
    }
    if records:
        changed = changed.model_copy(update={"host_tests": {**spec.host_tests, **records}})
        tests, text = home / HOST_TESTS, host_tests_text(changed.host_tests)
        diff += file_changes(f"{spec.name}/{HOST_TESTS}", existing_text(tests), text)
        texts[tests] = text
    done = exchanges(changed, [move.host.host for move in moves])
    if locks := [item.locks for item in done if item.locks]:
        diff += changes(spec, *locks[-1])
        changed, lock_texts = with_locks(changed, *locks[-1])
        texts |= lock_texts
    write(edit, spec, changed, texts)
    return done, diff


def _faults(path: Path, spec: Environment, moves: Sequence[Move]) -> tuple[str, str]:
    """Return the text of ``out_of_service.yaml`` before and after ``moves``."""
    before, now = existing_text(path), settings.now()
    away = {move.host.host: entry(spec, move, now) for move in moves if move.to is not LifecycleState.PRODUCTION}
    back = [move.host.host for move in moves if move.host.host not in away and move.host.host in spec.out_of_service]
    after = with_faults(before, away) if away else before
    return before, without_faults(after, back) if back else after


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
