"""Opens the data of an environment for a command: known, loaded, and free of problems."""

from __future__ import annotations

from cli.errors import unknown
from components.plan.checks import check
from components.specs.environment import Environment
from components.specs.loader import environments, load_environment
from components.specs.problems import SpecError
from toolchain import paths


def names() -> list[str]:
    """Return the environments there are."""
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


def load(name: str) -> Environment:
    """Return an environment without looking at what its files say about each other.

    Raises:
        Stop: there is none of that name.
        SpecError: a file is wrong; all problems are told.
    """
    return load_environment(known(name), paths.environments())


def checked(name: str) -> Environment:
    """Return an environment that can be applied.

    Raises:
        Stop: there is none of that name.
        SpecError: its data is wrong; all problems are told.
    """
    environment = load(name)
    problems = check(environment)
    if problems:
        raise SpecError(name, problems)
    return environment
