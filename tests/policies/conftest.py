"""Facts for rules: the environment laptop as it is rendered, and small objects made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.plan.manifests import manifests
from components.plan.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.loader import load_environment
from policies.facts import Context, Fact, manifest_facts, object_fact
from policies.verdict import Rule, violations
from toolchain import paths

Facts = Callable[[str], list[Fact]]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def context(laptop: Environment) -> Context:
    return Context.of(laptop)


@pytest.fixture(scope="session")
def rendered(laptop: Environment) -> Facts:
    """Return a function that gives the facts about all rendered objects of one kind."""
    facts = [fact for piece in slices(laptop) for fact in manifest_facts(objects(manifests(laptop, piece)))]
    return lambda kind: [fact for fact in facts if fact.kind == kind]


@pytest.fixture
def template() -> Callable[..., Fact]:
    """Return a function that makes a machine template with an image."""

    def make(name: str = "acme-train-infer-a03-0123456789", **image: Any) -> Fact:
        spec = {"template": {"spec": {"image": image} if image else {}}}
        metadata = {"name": name, "namespace": "acme-train"}
        return object_fact({"kind": "Metal3MachineTemplate", "metadata": metadata, "spec": spec}, "management")

    return make


@pytest.fixture
def text() -> Callable[[Rule, Fact, Context], str]:
    """Return a function that gives what a rule says about a fact."""
    return lambda rule, fact, context: "\n".join(str(item) for item in violations([rule], fact, context))
