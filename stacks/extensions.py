"""Components of the repository that is worked on, for environments of it."""

from __future__ import annotations

from components.inputs.extensions import components
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.machine import paths


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
