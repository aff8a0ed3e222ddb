"""Opens the data of an environment for a command: known, loaded, and free of problems."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from components.rules.checks import check, check_neighbours, rule_name
from components.rules.pools.rollouts import mixed
from components.specs.environment import Environment
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import SpecError
from jacquard.cli.errors import ExitCode, Stop, show, unknown
from jacquard.machine import paths, pins
from jacquard.previews.impacts.occupancy import FactsError, Given, read_facts
from stacks.extensions import joined


def names() -> list[str]:
    """Return the environments there are.

    Raises:
        SettingError: there is no project, or it pins another version of Jacquard.
    """
    pins.check()
    return environments(paths.environments())


def known(name: str) -> str:
    """Return ``name`` if there is such an environment.

    Raises:
        Stop: there is none.
    """
    if name not in names():
        remedy = f"an environment is a folder of {paths.environments()} with a region.yaml"
        raise unknown(name, names(), what="environment", remedy=remedy)
    return name


def chosen(given: Sequence[str] | None) -> list[str]:
    """Return the environments a command is about: those named, each once, or all.

    Raises:
        Stop: one of them, or any at all, does not exist.
    """
    found = [known(name) for name in dict.fromkeys(given or names())]
    if not found:
        msg = f"there is no environment in {paths.environments()}; an environment is a folder with a region.yaml"
        raise Stop(msg, ExitCode.BAD_DATA)
    return found


def load(name: str) -> Environment:
    """Return an environment without looking at what its files say about each other.

    Raises:
        Stop: there is none of that name.
        SpecError: a file is wrong; all problems are told.
    """
    return joined(load_environment(known(name), paths.environments()))


def checked(name: str) -> Environment:
    """Return an environment that can be applied.

    Raises:
        Stop: there is none of that name.
        SpecError: its data is wrong; all problems are told.
    """
    return _without(load(name))


def comparable(name: str) -> Environment:
    """Return an environment whose pools can be compared, mixed ones too.

    Raises:
        Stop: there is none of that name.
        SpecError: its data is wrong otherwise; all problems are told.
    """
    return _without(load(name), rule_name(mixed))


def facts(files: Iterable[Path], names: Sequence[str], *, now: dt.datetime, limit_minutes: int) -> Mapping[str, Given]:
    """Return what files of ``jacquard facts`` tell of the environments ``names``; a warning says which tell nothing.

    Raises:
        Stop: a file has no facts, or not of these environments; all of them are told.
    """
    try:
        given = read_facts(files, names, now=now, limit_minutes=limit_minutes)
    except FactsError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    for name, one in given.items():
        if one.unfit:
            show(f"{name}: {one.unfit}; until then nobody can tell which nodes are occupied", "warning")
    return given


def _without(environment: Environment, *tolerated: str) -> Environment:
    problems = [problem for problem in check(environment) if problem.rule not in tolerated]
    problems += check_neighbours(environment, paths.environments())
    if problems:
        raise SpecError(environment.name, problems)
    return environment
