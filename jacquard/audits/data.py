"""Judges the data of one environment in any folder: at another commit, or in the work tree."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from components.rules import checks
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from policies import judge, levels
from policies.results import Result, of_judgement, of_problem
from stacks.extensions import joined


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedData:
    """Data of one environment, and the results of all rules."""

    environment: Environment | None
    """Loaded data; None if a file cannot be read."""
    results: tuple[Result, ...]


@without_cycle_collector()
def judged_data(folder: Path, name: str, now: dt.datetime) -> JudgedData:
    """Return the results of the rules for the environment ``name`` in ``folder``, which contains all environments.

    Policies are only evaluated if the data can be applied, so that all their problems are tolerable.

    Args:
        folder: folder of all environments.
        name: name of the environment.
        now: time of the judgement, with a time zone.
    """
    try:
        environment = joined(load_environment(name, folder))
    except SpecError as error:
        return JudgedData(environment=None, results=tuple(of_problem(name, problem) for problem in error.problems))
    problems = [*checks.check(environment), *levels.problems(environment, now)]
    results = [of_problem(name, item) for item in sorted(problems)]
    if any(result.critical for result in results):
        return JudgedData(environment=environment, results=tuple(results))
    results += of_judgement(judge(environment, now), environment)
    return JudgedData(environment=environment, results=tuple(results))
