"""Environment laptop and its objects, rendered once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.plan.inputs import Input, inputs
from components.plan.manifests import render
from components.plan.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.loader import load_environment
from toolchain import paths

Inputs = Callable[[type], list[Input]]
Objects = Callable[[Input], list[Manifest]]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    """Return environment laptop."""
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def inputs_of(laptop: Environment) -> Inputs:
    """Return a function that gives the inputs of one concept, in order."""
    every = [item for part in slices(laptop) for item in inputs(laptop, part)]
    return lambda concept: [item for item in every if isinstance(item, concept)]


@pytest.fixture(scope="session")
def objects_of() -> Objects:
    """Return a function that renders one input and opens its sets."""
    return lambda concept: list(objects(render(concept)))
