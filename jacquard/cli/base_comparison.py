"""Compares the work tree with an earlier commit, for each command that tells or asks what a change does."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from components.lookups.effects.effect import Effect
from components.specs.environment import Environment
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import SpecError
from jacquard.cli import data
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.machine import paths, settings
from jacquard.machine.pins import PIN_FILE
from jacquard.previews.bases import Base, BaseError, base_at
from jacquard.previews.compare import impact as compared
from jacquard.previews.impacts.edits import Edit, edits
from jacquard.previews.impacts.head_only import Alone
from jacquard.previews.impacts.impact import Impact, Shared
from jacquard.previews.impacts.occupancy import Given, occupied
from jacquard.previews.preview import Preview
from jacquard.previews.rendered import rendered_by, rendered_here
from jacquard.previews.report import Report, report
from jacquard.previews.snapshots import Side, side
from stacks.extensions import joined


@contextmanager
def base_of(ref: str) -> Iterator[Base]:
    """Give the last commit that ``ref`` and the work tree share, until the block ends.

    Raises:
        Stop: there is no such commit, or nothing to compare in it.
    """
    try:
        with base_at(paths.environments(), paths.ROOT, ref, PIN_FILE) as base:
            yield base
    except BaseError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An environment in base and head, and what the change between them does."""

    base: Side
    head: Side
    undecided: bool
    """Whether nobody knows what the base rendered."""
    impact: Impact

    def report(self, now: dt.datetime, preview: Preview | None = None) -> Report:
        """Return the report of it that is made at ``now``, the same all day.

        Args:
            now: a moment with a time zone.
            preview: what the engine and policies say of it; None where nobody asked them.
        """
        today = dt.datetime.combine(now.astimezone(dt.UTC), dt.time(), dt.UTC)
        return report(self.base.environment, self.head.environment, self.impact, today, preview)


def without_new(names: Sequence[str], base: Base) -> list[str]:
    """Return those of ``names`` that ``base`` has as well, and say of the others that nothing of them can run."""
    old = environments(base.environments)
    for name in names:
        if name not in old:
            show(_nothing_runs(name, base), "note")
    return [name for name in names if name in old]


def impacts(names: Sequence[str], base: Base) -> list[Impact]:
    """Return what the work tree does to each of the environments ``names``; see `compare`."""
    return [one.impact for one in compare(names, base)]


def compare(names: Sequence[str], base: Base, facts: Mapping[str, Given] | None = None) -> list[Compared]:
    """Return what the work tree does to each of the environments ``names``, and to others by the catalogue.

    Args:
        names: of environments.
        base: what they are compared with.
        facts: by environment what was observed of it; None where nobody asks who works on nodes.

    Raises:
        Stop: an environment is new, or its data in ``base`` cannot be read.
        SpecError: its data is wrong.
    """
    edited = {name: edits(base.environments, paths.environments(), name) for name in names}
    found = [_compared(name, base, edited[name]) for name in names]
    shared = _elsewhere(edited, base)
    told = [replace(one, impact=one.impact.model_copy(update={"shared": shared})) for one in found]
    if facts is None:
        return told
    return [replace(one, impact=occupied(one.impact, facts.get(one.impact.environment))) for one in told]


def impact(name: str, base: Base, edited: Sequence[Edit]) -> Impact:
    """Return what becoming the work tree does to the environment ``name`` as it is in ``base``.

    Args:
        name: of the environment, which must be in ``base`` too.
        base: what it is compared with.
        edited: what was edited in its files.

    Raises:
        Stop: the environment is new, or its data in ``base`` cannot be read.
        SpecError: its data is wrong.
    """
    return _compared(name, base, edited).impact


def _compared(name: str, base: Base, edited: Sequence[Edit]) -> Compared:
    head = data.comparable(name)
    if name not in environments(base.environments):
        raise Stop(_nothing_runs(name, base))
    before = _before(name, base)
    asked = base.code is not None and not base.pinned_otherwise
    objects = rendered_by(base, name) if asked else None
    sides = (side(before, objects), side(head, rendered_here(head))) if objects else (side(before), side(head))
    undecided = base.pinned_otherwise or (asked and objects is None)
    found = compared(
        *sides,
        edited,
        names=(base.commit, base.head),
        now=settings.now(),
        alone=None if asked else Alone(sides[0], base.environments),
        undecided=undecided,
    )
    return Compared(base=sides[0], head=sides[1], undecided=undecided, impact=found)


def _nothing_runs(name: str, base: Base) -> str:
    return f"{name} is new: {base.commit} has no such environment, so that nothing of it can run yet"


def _elsewhere(edited: Mapping[str, Sequence[Edit]], base: Base) -> tuple[Shared, ...]:
    """Return what happens to other environments, which read the same catalogue; nothing where it is as it was."""
    if not any(edit.file.startswith("../") for found in edited.values() for edit in found):
        return ()
    others = [name for name in data.names() if name not in edited and name in environments(base.environments)]
    return tuple(_shared(name, base) for name in others)


def _shared(name: str, base: Base) -> Shared:
    try:
        found = impact(name, base, ())  # who did it is told by the impact of that environment
    except (SpecError, Stop):
        return Shared(environment=name, effect=Effect.UNKNOWN, nodes=None)
    return Shared(environment=name, effect=found.effect, nodes=found.gone)


def _before(name: str, base: Base) -> Environment:
    try:
        return joined(load_environment(name, base.environments))
    except SpecError as error:
        msg = f"this version of Jacquard does not read the data of {base.commit}, so nothing can be compared\n{error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
