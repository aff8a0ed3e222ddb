"""Every component: its type token, its arguments, its children, and the complete stack of laptop."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.component import Component, ComponentArgs
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.concept import Concept, Made
from components.render.manifest import Manifest, Rendered, provider_of_retained
from components.resources import Cluster, child_name, type_token
from components.specs.environment import Environment
from stacks.deploy import WAITS_FOR
from tests.support.data.concepts import concept_name, concept_names
from tests.support.data.environment_data import reference
from tests.support.data.external_store import with_store

Run = Callable[..., list[Any]]
CONCEPTS = concept_names()


@pytest.fixture(scope="module")
def concepts() -> dict[str, Concept]:
    """Return the first input of each concept by module: of laptop, with an external store, or of another region."""
    laptop = reference("laptop")
    found: dict[str, Concept] = {}
    others = (reference(name) for name in ("eu-south-03a", "us-east-04a"))
    for concept in (item for one in (laptop, with_store(laptop), *others) for item in inputs_of(one)):
        found.setdefault(concept_name(concept), concept)
    return found


def inputs_of(environment: Environment) -> list[Concept]:
    return [concept for piece in slices(environment) for concept in inputs(environment, piece)]


def counterpart(concept: Concept) -> type[Component[Any]]:
    """Return the component class for the input ``concept``."""
    [found] = [component for component in WAITS_FOR if component.INPUT is type(concept)]
    return found


def build(concept: Concept) -> pulumi.ComponentResource:
    """Register the component of ``concept`` as a program does."""
    names = {item.cluster for item in concept.render()}
    clusters = {key: Cluster(name=key, kubeconfig=Path(f"/k/{key}"), identifier=f"laptop/{key}") for key in names}
    return counterpart(concept)(concept.name, ComponentArgs(concept=concept, clusters=clusters))


def test_every_component_occurs_in_an_environment(concepts: dict[str, Concept]) -> None:
    assert sorted(concepts) == CONCEPTS


@pytest.mark.parametrize("module", CONCEPTS)
def test_a_component_registers_exactly_the_objects_of_its_renderer(
    module: str, run: Run, concepts: dict[str, Concept]
) -> None:
    concept = concepts[module]

    registered = run(lambda: build(concept) and None)

    [component] = [item for item in registered if item.type.startswith("jacquard:components:")]
    assert (component.type, component.name, component.parent) == (
        f"jacquard:components:{counterpart(concept).__name__}",
        concept.name,
        "",
    )
    children = [(item.type, item.name, item.provider, item.protect, item.retain) for item in registered if item.parent]
    assert sorted(children) == sorted(
        (
            type_token(item) if isinstance(item, Manifest) else "jacquard:index:ObjectSet",
            child_name(concept.name, item),
            _provider(item),
            isinstance(item, Manifest) and item.protect,
            isinstance(item, Manifest) and item.retain,
        )
        for item in concept.render()
    )


def _provider(item: Rendered) -> str:
    if not isinstance(item, Manifest):
        return f"jacquard/{item.cluster}"
    return f"kubernetes/{provider_of_retained(item.cluster) if item.retain else item.cluster}"


@pytest.mark.parametrize("module", CONCEPTS)
def test_a_component_registers_the_outputs_that_its_class_names(
    module: str, run: Run, concepts: dict[str, Concept], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs: dict[str, Any] = {}
    monkeypatch.setattr(pulumi.ComponentResource, "register_outputs", lambda _self, given: outputs.update(given))

    run(lambda: build(concepts[module]) and None)

    declared = inspect.get_annotations(counterpart(concepts[module]))
    assert set(outputs) == set(declared) != set()


def test_component_arguments_are_frozen_and_keyword_only() -> None:
    assert all(field.kw_only for field in dataclasses.fields(ComponentArgs))
    assert ComponentArgs.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_a_component_uses_objects_that_are_rendered_already(run: Run, concepts: dict[str, Concept]) -> None:
    concept = concepts["cluster_access"]
    made = Made(concept)
    assert made.rendered is made.rendered
    clusters = {
        item.cluster: Cluster(name=item.cluster, kubeconfig=Path("/k"), identifier="x") for item in made.rendered
    }
    args = ComponentArgs(concept=concept, clusters=clusters, made=Made(concept))
    args.made.__dict__["rendered"] = ()

    registered = run(lambda: counterpart(concept)(concept.name, args) and None)

    assert [item.name for item in registered if item.parent] == []
