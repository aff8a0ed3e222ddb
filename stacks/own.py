"""Components of the repository that is worked on, for environments of it."""

from __future__ import annotations

from components.plan.own import components
from components.specs.environment import Environment
from components.specs.problems import SpecError
from toolchain import paths


def joined(environment: Environment) -> Environment:
    """Return ``environment`` with what the repository's own components add to it.

    Raises:
        SpecError: a file of them is wrong; all are told.
    """
    project = paths.own()
    if project is None:
        return environment
    found, problems = components(project)
    if problems:
        raise SpecError(environment.name, problems)
    return environment.model_copy(update={"own": found})
