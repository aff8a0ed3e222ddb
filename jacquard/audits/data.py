"""Judges the data of one environment in any folder: at another commit, or in the work tree."""

import datetime as dt
from pathlib import Path

from components.rules import checks
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from components.specs.struct import Struct
from policies import judge, levels
from policies.results import Result, of_judgement, of_problem, of_warning
from stacks.extensions import joined


class JudgedData(Struct):
    """Data of one environment, and the results of all rules."""

    environment: Environment | None
    """Loaded data; None if a file cannot be read."""
    results: tuple[Result, ...]


@without_cycle_collector()
def judged_data(folder: Path, name: str, now: dt.datetime, day: dt.date | None = None) -> JudgedData:
    """Return the results of the rules for the environment ``name`` in ``folder``, which contains all environments.

    Policies are only evaluated if the data can be applied, so that all their problems are tolerable.

    Args:
        folder: folder of all environments.
        name: name of the environment.
        now: time of the judgement, with a time zone.
        day: day that decides whether violations of new rules are warnings; by default that of ``now``. With
            `dt.date.max`, none are.
    """
    try:
        environment = joined(load_environment(name, folder))
    except SpecError as error:
        return JudgedData(environment=None, results=tuple(of_problem(name, problem) for problem in error.problems))
    day = day or now.astimezone(dt.UTC).date()
    problems = levels.all_problems(environment, now)
    results = [of_problem(name, item) for item in checks.errors(problems, day)]
    results += [of_warning(name, item, starts) for item in problems if (starts := checks.binding(item, day))]
    if any(result.critical for result in results):
        return JudgedData(environment=environment, results=tuple(results))
    results += of_judgement(judge(environment, now, is_strict=day == dt.date.max), environment)
    return JudgedData(environment=environment, results=tuple(results))
