"""Comparison of the work tree with an earlier commit, shared by the commands that report the effect of a change."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from components.lookups.effects.effect import Effect
from components.rules.checks import (
    binding,
    check,
    check_change,
    check_growth,
    check_removed,
    errors,
    valid_fleet,
    warning_lines,
    warnings,
)
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.reading.fleet import NAME as FLEET
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import Problem, SpecError
from components.specs.struct import Struct, replace
from jacquard.cli import data
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.machine import paths, settings
from jacquard.machine.pins import PIN_FILE
from jacquard.previews.base_commits import BaseError
from jacquard.previews.bases import Base, base_at
from jacquard.previews.compare import impact as impact_between
from jacquard.previews.impacts.changed_checks import with_changed_checks
from jacquard.previews.impacts.edits import Edit, edits, has_edits_outside
from jacquard.previews.impacts.impact import Impact, Shared
from jacquard.previews.impacts.occupancy import CollectedFacts, occupied
from jacquard.previews.impacts.trials import Trials
from jacquard.previews.preview import Preview
from jacquard.previews.rendered import rendered_by, rendered_here
from jacquard.previews.report import Report, report
from jacquard.previews.results import of_impact
from jacquard.previews.snapshots import Side, rendered, side
from policies.results import Result, Source, of_warning
from stacks.extensions import joined


@contextmanager
def base_of(ref: str) -> Iterator[Base]:
    """Check out the merge base of ``ref`` and the work tree for the duration of the block.

    Raises:
        Stop: there is no such commit, or it contains nothing to compare.
    """
    try:
        with base_at(paths.environments(), paths.ROOT, ref, PIN_FILE) as base:
            yield base
    except BaseError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None


class Compared(Struct):
    """An environment in base and head, and the effect of the change between them."""

    base: Side
    head: Side
    undecided: bool
    """Whether the rendered objects of the base are unknown."""
    impact: Impact
    warnings: tuple[Result, ...] = ()
    """Violations of new rules by the change or its head."""

    def results(self) -> Iterator[Result]:
        """Yield the disruptive effects of the change, and the warnings of new rules."""
        yield from of_impact(self.impact)
        yield from self.warnings

    def report(self, now: dt.datetime, preview: Preview | None = None) -> Report:
        """Return the report of the change; all values of ``now`` on one UTC day give the same report.

        Args:
            now: time of the report, with a time zone.
            preview: results of engine and policies; None if they were not run.
        """
        today = dt.datetime.combine(now.astimezone(dt.UTC), dt.time(), dt.UTC)
        return report(self.base.environment, self.head.environment, self.impact, today, preview)


def without_new(names: Sequence[str], base: Base) -> list[str]:
    """Return the ``names`` that exist in ``base``; print a note for each other name."""
    old = environments(base.environments)
    for name in names:
        if name not in old:
            show(_nothing_runs(name, base), "note")
    return [name for name in names if name in old]


def refuse_removed(base: Base) -> None:
    """Pass if all regions of ``base`` still exist, or were retired before they were removed.

    Raises:
        SpecError: a removed region has tenants or hosts.
        Stop: its data in ``base`` cannot be read.
    """
    names = data.names()
    removed = [_before(name, base) for name in environments(base.environments) if name not in names]
    if problems := check_removed(removed, names):
        raise SpecError(FLEET, problems)


def impacts(names: Sequence[str], base: Base) -> list[Impact]:
    """Return the impact of the work tree on each of the environments ``names``; see `compare`."""
    return [comparison.impact for comparison in compare(names, base)]


def compare(names: Sequence[str], base: Base, facts: Mapping[str, CollectedFacts] | None = None) -> list[Compared]:
    """Return the effect of the work tree on the environments ``names``, and on others that also read the edited files.

    Args:
        names: names of environments.
        base: commit to compare with.
        facts: facts by environment; None if the occupancy of nodes is not requested.

    Raises:
        Stop: an environment is new, or its data in ``base`` cannot be read.
        SpecError: the data of an environment are wrong.
    """
    with without_cycle_collector():
        alone = [_compared(name, base, edits(base.environments, paths.environments(), name)) for name in names]
        shared = _elsewhere(names, base)
    compared = [replace(item, impact=item.impact.model_copy(update={"shared": shared})) for item in alone]
    if facts is None:
        return compared
    return [_with_facts(item, facts.get(item.impact.environment)) for item in compared]


def _with_facts(compared: Compared, facts: CollectedFacts | None) -> Compared:
    before, after = compared.base.environment, compared.head.environment
    impact = with_changed_checks(occupied(compared.impact, facts), before, after, facts)
    return replace(compared, impact=impact)


def impact(name: str, base: Base, edited: Sequence[Edit]) -> Impact:
    """Return the impact of the work tree on the environment ``name`` of ``base``.

    Args:
        name: name of the environment, which must exist in ``base``.
        base: commit to compare with.
        edited: edits of its files.

    Raises:
        Stop: the environment is new, or its data in ``base`` cannot be read.
        SpecError: the data of the environment are wrong.
    """
    return _compared(name, base, edited).impact


def _compared(name: str, base: Base, edited: Sequence[Edit]) -> Compared:
    head, of_head = data.comparable_with_warnings(name)
    if name not in environments(base.environments):
        raise Stop(_nothing_runs(name, base))
    before = _before(name, base)
    grown, today = check_growth(valid_fleet(paths.environments()), before, head), settings.today()
    found = check_change(before, head, today)
    if problems := [*errors(found, today), *grown]:
        raise SpecError(name, problems)
    try:
        return _warned(_between(before, head, base, edited), warnings(found, today), of_head, today)
    except Exception:
        _require_renderable(before, base)
        raise


def _between(before: Environment, head: Environment, base: Base, edited: Sequence[Edit]) -> Compared:
    renders = base.code is not None and not base.pinned_otherwise
    objects = rendered_by(base, head.name) if renders else None
    sides = (side(before, objects), side(head, rendered_here(head))) if objects else (side(before), side(head))
    undecided = base.pinned_otherwise or (renders and objects is None)
    effect = impact_between(
        *sides,
        edited,
        names=(base.commit, base.head),
        now=settings.now(),
        trials=None if renders else Trials(sides[0], head, base.environments),
        undecided=undecided,
    )
    return Compared(base=sides[0], head=sides[1], undecided=undecided, impact=effect)


def _warned(compared: Compared, of_change: Sequence[Problem], of_head: Sequence[Problem], today: dt.date) -> Compared:
    """Return ``compared`` with the warnings of new rules on the change and on the data of its head."""
    results = (
        of_warning(compared.head.environment.name, problem, starts, source)
        for problems, source in ((of_change, Source.CHANGE), (of_head, Source.DATA))
        for problem in problems
        if (starts := binding(problem, today))
    )
    lines = warning_lines([*of_change, *of_head], today)
    effect = compared.impact.model_copy(update={"warnings": lines})
    return replace(compared, impact=effect, warnings=tuple(results))


def _nothing_runs(name: str, base: Base) -> str:
    return f"{name} is new: {base.commit} does not contain it, so nothing of it can run yet"


def _elsewhere(names: Sequence[str], base: Base) -> tuple[Shared, ...]:
    """Return the effect on other environments with edits outside their folders, such as edits of the catalogue."""
    others = (name for name in data.names() if name not in names and name in environments(base.environments))
    here = paths.environments()
    return tuple(_shared(name, base) for name in others if has_edits_outside(base.environments, here, name))


def _shared(name: str, base: Base) -> Shared:
    try:
        result = impact(name, base, ())  # the report of that environment lists the edits
    except (SpecError, Stop):
        return Shared(environment=name, effect=Effect.UNKNOWN, nodes=None)
    return Shared(environment=name, effect=result.effect, nodes=result.totals.nodes)


def _before(name: str, base: Base) -> Environment:
    try:
        return joined(load_environment(name, base.environments))
    except SpecError as error:
        msg = f"this version of Jacquard cannot read the data of {base.commit}; pass a later commit to --base\n{error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def _require_renderable(environment: Environment, base: Base) -> None:
    """Pass if the data of a base can be rendered; older data may have problems and still be rendered.

    Raises:
        Stop: the data have problems, such as a missing allocation, and cannot be rendered.
    """
    try:
        rendered(environment)
    except Exception:
        problems = errors(check(environment), settings.today())
        if not problems:
            raise
        msg = f"the data of {base.commit} have problems and cannot be rendered; pass a commit without them to --base"
        text = f"{msg}\n{SpecError(environment.name, problems)}"
        raise Stop(text, ExitCode.BAD_DATA) from None
