"""Environment laptop and its objects, rendered once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.concept import Concept
from components.render.manifest import Manifest, objects
from components.render.pools.node_pool import NodePoolInput
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from tests.support.data.second_backends import with_backends

Inputs = Callable[[type], list[Concept]]
InputsWith = Callable[..., list[Concept]]
Objects = Callable[[Concept], list[Manifest]]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    """Return environment laptop."""
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def inputs_of(laptop: Environment) -> Inputs:
    """Return a function that returns the inputs of one concept, in order."""
    every = [item for part in slices(laptop) for item in inputs(laptop, part)]
    return lambda concept: [item for item in every if isinstance(item, concept)]


@pytest.fixture(scope="session")
def inputs_with(laptop: Environment) -> InputsWith:
    """Return a function that returns the inputs of one concept with other backends (default: the second ones)."""

    def inputs_with_backends(concept: type, **backends: Any) -> list[Concept]:
        environment = with_backends(laptop, **backends)
        every = (item for part in slices(environment) for item in inputs(environment, part))
        return [item for item in every if isinstance(item, concept)]

    return inputs_with_backends


@pytest.fixture(scope="session")
def objects_of() -> Objects:
    """Return a function that renders one input, including the members of its sets."""
    return lambda concept: list(objects(concept.render()))


@pytest.fixture
def pool(inputs_of: Inputs) -> NodePoolInput:
    """Return a pool with two rollout groups and a taint."""
    pools = [item for item in inputs_of(NodePoolInput) if isinstance(item, NodePoolInput)]
    return next(item for item in pools if item.spec.taints and len(item.groups) > 1)


@pytest.fixture
def offering(inputs_of: Inputs) -> VmOfferingInput:
    """Return the VM offering of environment laptop."""
    [found] = inputs_of(VmOfferingInput)
    assert isinstance(found, VmOfferingInput)
    return found
