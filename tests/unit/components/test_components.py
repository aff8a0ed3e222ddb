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

from components.plan.inputs import Input, inputs
from components.plan.manifests import render
from components.plan.slices import slices
from components.render.manifest import Manifest
from components.resources import Cluster, child_name, type_token
from components.specs.environment import Environment
from components.specs.loader import load_environment
from toolchain import paths

Run = Callable[..., list[Any]]
CLASSES = {
    "region": ("Region", "region"),
    "inventory": ("Inventory", "inventory"),
    "hosted_control_plane": ("HostedControlPlane", "control_plane"),
    "cluster_access": ("ClusterAccess", "access"),
    "node_pool": ("NodePool", "pool"),
    "tenant_network": ("TenantNetwork", "network"),
    "storage": ("StorageCatalog", "catalog"),
    "vm_offering": ("VmOffering", "offering"),
}
"""Class and argument by module: type tokens are kept in every state, so a change here needs an alias there."""


@pytest.fixture(scope="module")
def concepts() -> dict[str, Input]:
    """Return the first input of each concept in environment laptop, by module."""
    environment = load_environment("laptop", paths.ROOT / "environments")
    found: dict[str, Input] = {}
    for concept in inputs_of(environment):
        found.setdefault(type(concept).__module__.rsplit(".", 1)[-1], concept)
    return found


def inputs_of(environment: Environment) -> list[Input]:
    return [concept for piece in slices(environment) for concept in inputs(environment, piece)]


def build(module: str, concept: Input) -> pulumi.ComponentResource:
    """Make the component of ``concept`` the way a program does."""
    name, argument = CLASSES[module]
    loaded = import_module(f"components.{module}")
    names = {item.cluster for item in render(concept)}
    clusters = {key: Cluster(name=key, kubeconfig=Path(f"/k/{key}"), identifier=f"laptop/{key}") for key in names}
    args = getattr(loaded, f"{name}Args")(**{argument: concept, "clusters": clusters})
    component: pulumi.ComponentResource = getattr(loaded, name)(concept.name, args)
    return component


def test_every_component_module_is_listed_here() -> None:
    modules = {path.stem for path in (paths.ROOT / "components").glob("*.py")} - {"__init__", "resources"}

    assert modules == set(CLASSES)


@pytest.mark.parametrize("module", CLASSES)
def test_a_component_registers_exactly_what_its_renderer_returns(
    module: str, run: Run, concepts: dict[str, Input]
) -> None:
    concept = concepts[module]

    registered = run(lambda: build(module, concept) and None)

    [component] = [item for item in registered if item.type.startswith("jacquard:components:")]
    assert (component.type, component.name, component.parent) == (
        f"jacquard:components:{CLASSES[module][0]}",
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
        for item in render(concept)
    )


@pytest.mark.parametrize("module", CLASSES)
def test_a_component_registers_the_outputs_that_its_class_names(
    module: str, run: Run, concepts: dict[str, Input], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs: dict[str, Any] = {}
    monkeypatch.setattr(pulumi.ComponentResource, "register_outputs", lambda _self, given: outputs.update(given))

    run(lambda: build(module, concepts[module]) and None)

    declared = inspect.get_annotations(getattr(import_module(f"components.{module}"), CLASSES[module][0]))
    assert set(outputs) == set(declared) != set()


@pytest.mark.parametrize("module", CLASSES)
def test_arguments_are_frozen_and_given_by_name(module: str) -> None:
    args = getattr(import_module(f"components.{module}"), f"{CLASSES[module][0]}Args")

    assert [field.name for field in dataclasses.fields(args)] == [CLASSES[module][1], "clusters"]
    assert all(field.kw_only for field in dataclasses.fields(args))
    assert args.__dataclass_params__.frozen
