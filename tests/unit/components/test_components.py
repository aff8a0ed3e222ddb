"""Every component: its type token, its arguments, its children, and how laptop's whole stack comes out."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pulumi
import pytest
from concepts import concept_name, concept_names
from external_store import with_store

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.concept import Concept
from components.render.manifest import Manifest
from components.resources import Cluster, child_name, type_token
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths

Run = Callable[..., list[Any]]
CONCEPTS = concept_names()


@pytest.fixture(scope="module")
def concepts() -> dict[str, Concept]:
    """Return the first input of each concept, by module: laptop's, with a store of Secrets, and else eu-south-03a's."""
    laptop, south = (load_environment(name, paths.ROOT / "environments") for name in ("laptop", "eu-south-03a"))
    found: dict[str, Concept] = {}
    for concept in (*inputs_of(laptop), *inputs_of(with_store(laptop)), *inputs_of(south)):
        found.setdefault(concept_name(concept), concept)
    return found


def inputs_of(environment: Environment) -> list[Concept]:
    return [concept for piece in slices(environment) for concept in inputs(environment, piece)]


def counterpart(concept: Concept, suffix: str = "") -> Any:
    """Return the component of ``concept`` or what it is made from: these are named like its input."""
    name = type(concept).__name__.removesuffix("Input")
    return getattr(import_module(f"components.{concept_name(concept)}"), f"{name}{suffix}")


def build(concept: Concept) -> pulumi.ComponentResource:
    """Make the component of ``concept`` the way a program does."""
    names = {item.cluster for item in concept.render()}
    clusters = {key: Cluster(name=key, kubeconfig=Path(f"/k/{key}"), identifier=f"laptop/{key}") for key in names}
    [own, _] = dataclasses.fields(counterpart(concept, "Args"))
    args = counterpart(concept, "Args")(**{own.name: concept, "clusters": clusters})
    component: pulumi.ComponentResource = counterpart(concept)(concept.name, args)
    return component


def test_every_component_is_made_in_an_environment(concepts: dict[str, Concept]) -> None:
    assert sorted(concepts) == CONCEPTS


@pytest.mark.parametrize("module", CONCEPTS)
def test_a_component_registers_exactly_what_its_renderer_returns(
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
            f"{'kubernetes' if isinstance(item, Manifest) else 'jacquard'}/{item.cluster}",
            isinstance(item, Manifest) and item.protect,
            isinstance(item, Manifest) and item.retain,
        )
        for item in concept.render()
    )


@pytest.mark.parametrize("module", CONCEPTS)
def test_a_component_registers_the_outputs_that_its_class_names(
    module: str, run: Run, concepts: dict[str, Concept], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs: dict[str, Any] = {}
    monkeypatch.setattr(pulumi.ComponentResource, "register_outputs", lambda _self, given: outputs.update(given))

    run(lambda: build(concepts[module]) and None)

    declared = inspect.get_annotations(counterpart(concepts[module]))
    assert set(outputs) == set(declared) != set()


@pytest.mark.parametrize("module", CONCEPTS)
def test_arguments_are_frozen_and_given_by_name(module: str, concepts: dict[str, Concept]) -> None:
    args = counterpart(concepts[module], "Args")

    own, clusters = dataclasses.fields(args)
    assert (own.type, clusters.name) == (type(concepts[module]).__name__, "clusters")
    assert all(field.kw_only for field in dataclasses.fields(args))
    assert args.__dataclass_params__.frozen
