"""Extension components of a repository of regions, and their registration with the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.inputs.extensions.inputs import components
from components.inputs.slice_inputs import made
from components.lookups.slices import slices
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.starters.region import FILES
from stacks.deploy import Deployment
from stacks.extensions import joined

Run = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def environment() -> Environment:
    """Laptop with the example component of a new repository."""
    found, problems = components(FILES / "repository")
    assert problems == ()
    return load_environment("laptop", paths.ROOT / "environments").model_copy(update={"extensions": found})


def test_an_own_component_follows_the_region_and_all_that_its_cluster_needs(run: Run, environment: Environment) -> None:
    def program() -> None:
        deployment = Deployment(environment.region, Path("/kubeconfigs"))
        for piece in slices(environment):
            for one in made(environment, piece):
                deployment.add(one)

    found = run(program)

    parents = {item.name: item.parent for item in found}
    waits = {
        item.name: {parents[name] or name for name in item.dependencies}
        for item in found
        if item.type == "jacquard:components:Extension"
    }
    assert set(waits) == {"management-note", "acme-train-note", "globex-lab-note"}
    assert waits["management-note"] == {"laptop"}
    assert waits["globex-lab-note"] == {"laptop", "globex-lab-kubeconfig", "globex-lab-lab", "globex-lab"}
    [note] = [item for item in found if item.parent == "globex-lab-note"]
    assert (note.type, note.provider) == ("kubernetes:core/v1:ConfigMap", "kubernetes/globex-lab")
    assert note.inputs["data"] == {"region": "laptop", "stage": "rehearsal", "contact": "platform@cloud.example"}


def test_an_environment_of_the_clone_is_not_changed(environment: Environment) -> None:
    assert joined(environment) is environment
