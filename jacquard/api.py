"""Functions of the public API that join several layers; `jacquard` exports them."""

import datetime as dt
from pathlib import Path

from components.inputs import slice_inputs
from components.inputs.manifests import everything
from components.lookups.slices import slices
from components.render.concept import Concept
from components.render.manifest import Manifest
from components.rules import checks
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import Problem, SpecError
from jacquard.previews.compare import impact as compared
from jacquard.previews.impacts.edits import edits
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.trials import Trials
from jacquard.previews.snapshots import side


def check(environment: Environment, *, today: dt.date | None = None) -> list[Problem]:
    """Return the problems that cross-checks find in ``environment``, sorted by file and line; empty if there are none.

    Policies are not evaluated here, because they require objects; `jacquard check` and the policy pack evaluate them.

    Args:
        environment: environment to check.
        today: day on which the problems are errors: those of new rules are warnings in their advisory period, and
            omitted. `datetime.date.max` includes them. Default: the current day.
    """
    return checks.errors(checks.check(environment), today or _today())


def inputs(environment: Environment) -> tuple[Concept, ...]:
    """Return the inputs of all components of a valid ``environment``, in the order in which they are applied.

    Raises:
        SpecError: cross-checks find problems, or the code of an extension component fails.
    """
    _require_valid(environment)
    return tuple(concept for part in slices(environment) for concept in slice_inputs.inputs(environment, part))


def render(environment: Environment) -> tuple[Manifest, ...]:
    """Return every object of a valid ``environment``, in the order in which they are applied.

    Raises:
        SpecError: cross-checks find problems, or the code of an extension component fails.
    """
    _require_valid(environment)
    return tuple(everything(environment))


def impact(name: str, base: Path, head: Path, *, now: dt.datetime | None = None) -> Impact:
    """Return the impact of a change on the environment ``name``: nodes, DPUs, tenants, and the edits that cause it.

    Args:
        name: name of the environment, which must exist in both folders.
        base: folder of all environments (with ``catalog/``) before the change.
        head: the same folder after the change.
        now: time with which freezes and approvals are compared. Default: the current time.

    Raises:
        SpecError: the data of one side are invalid, or the change edits versions without their digests.
    """
    before, after = (side(_valid(name, folder)) for folder in (base, head))
    now = now or dt.datetime.now(dt.UTC)
    today = now.astimezone(dt.UTC).date()
    found = checks.check_change(before.environment, after.environment, today)
    if problems := checks.errors(found, today):
        raise SpecError(name, problems)
    effect = compared(
        before,
        after,
        edits(base, head, name),
        names=(str(base), str(head)),
        now=now,
        trials=Trials(before, after.environment, base),
    )
    warnings = checks.warning_lines([*found, *checks.check(after.environment)], today)
    return effect.model_copy(update={"warnings": warnings})


def _valid(name: str, folder: Path) -> Environment:
    environment = load_environment(name, folder)
    _require_valid(environment)
    return environment


def _require_valid(environment: Environment) -> None:
    if problems := check(environment):
        raise SpecError(environment.name, problems)


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()
