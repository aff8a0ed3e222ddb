"""Adds the extension components of the current project to its environments."""

from components.inputs.extensions.inputs import components
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.machine import paths


def joined(environment: Environment) -> Environment:
    """Return ``environment`` with the extension components of its repository.

    Raises:
        SpecError: a file of an extension is invalid; contains all problems.
    """
    project = paths.own()
    if project is None:
        return environment
    extension_components, problems = components(project)
    if problems:
        raise SpecError(environment.name, problems)
    return environment.model_copy(update={"extensions": extension_components})
