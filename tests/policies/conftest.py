"""Facts for policy tests: the rendered environment laptop, and small handwritten objects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from policies.facts import Context, Fact, object_fact
from policies.judging import Judge
from policies.verdict import Rule
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

Facts = Callable[[str], list[Fact]]
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture
def laptop_copy(tmp_path: Path) -> Workbench:
    """Return a copy of laptop and of the catalogue to edit."""
    return Workbench(copy_data(tmp_path / "environments", "laptop"))


@pytest.fixture
def data(laptop_copy: Workbench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a copy of laptop that the policy pack reads."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(laptop_copy.root))
    return laptop_copy.folder


@pytest.fixture(scope="session")
def now() -> dt.datetime:
    """Time of all events in these tests."""
    return NOW


@pytest.fixture(scope="session")
def context(laptop: Environment) -> Context:
    return Context.of(laptop, NOW)


@pytest.fixture(scope="session")
def rendered(laptop: Environment) -> Facts:
    """Return a function that returns the facts about all rendered objects of one kind."""
    return _facts(laptop)


@pytest.fixture(scope="session")
def rendered_by_ironcore() -> Facts:
    """Return the same for a region with IronCore hosts and k0smotron control planes."""
    return _facts(load_environment("eu-south-03a", paths.ROOT / "environments"))


def _facts(environment: Environment) -> Facts:
    facts = [
        object_fact(item.body, item.cluster)
        for piece in slices(environment)
        for item in objects(manifests(environment, piece))
    ]
    return lambda kind: [fact for fact in facts if fact.kind == kind]


@pytest.fixture
def template() -> Callable[..., Fact]:
    """Return a function that creates a machine template with an image."""

    def make(name: str = "acme-train-infer-a03-0123456789", **image: Any) -> Fact:
        return _template("Metal3MachineTemplate", name, image)

    return make


@pytest.fixture
def server_template() -> Callable[[Any], Fact]:
    """Return a function that creates an IronCore machine template with an image."""
    return lambda image: _template("IroncoreMetalMachineTemplate", "acme-train-infer-a03-0123456789", image)


def _template(kind: str, name: str, image: Any) -> Fact:
    spec = {"template": {"spec": {"image": image} if image else {}}}
    labels = {"jacquard.dev/cluster": "acme-train", "jacquard.dev/pool": "infer"}
    metadata = {"name": name, "namespace": "acme-train", "labels": labels}
    return object_fact({"kind": kind, "metadata": metadata, "spec": spec}, "management")


@pytest.fixture
def text() -> Callable[[Rule, Fact, Context], str]:
    """Return a function that returns the finding of a rule for a fact."""
    return lambda rule, fact, context: "\n".join(str(item) for item in Judge([rule], context).violations(fact))
