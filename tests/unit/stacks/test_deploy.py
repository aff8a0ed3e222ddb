"""Registration of a complete stack with the engine."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import made
from components.lookups.slices import Slice, slices
from components.render.concept import Made
from components.render.manifest import MANAGEMENT, Manifest, Rendered, cluster_of_provider, objects
from components.resources import type_token
from components.specs.environment import Environment
from components.specs.region.state import StackLayout
from jacquard.machine import paths
from jacquard.providers.objectset.patch_bodies import bodies
from policies.facts import PROVIDER, Context, Fact
from policies.judging import Judge
from policies.rules import RULES
from stacks.deploy import Deployment
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.second_backends import with_backends

Run = Callable[..., list[Any]]
BUDGET = 300
KUBECONFIGS = Path("/kubeconfigs")
ORDERS = {"pulumi.com/patchFieldManager", "pulumi.com/waitFor", "pulumi.com/timeoutSeconds"}
"""Annotations for the provider, which `components.resources` adds to every object."""


@pytest.fixture(scope="module")
def environment() -> Environment:
    return reference("laptop")


def deploy(environment: Environment, *pieces: Slice) -> Callable[[], None]:
    concepts = [one for piece in pieces for one in made(environment, piece)]

    def program() -> None:
        deployment = Deployment(environment.region, KUBECONFIGS)
        for concept in concepts:
            deployment.add(concept)
        deployment.export()

    return program


@pytest.fixture(scope="module")
def whole(run: Run, environment: Environment) -> list[Any]:
    return run(deploy(environment, *slices(environment)))


def piece_called(environment: Environment, name: str) -> Slice:
    return next(piece for piece in slices(environment) if piece.name == name)


def requested(resource: Any) -> list[Manifest]:
    """Return the objects of a resource, without the annotations for its provider."""
    cluster = cluster_of_provider(resource.provider.partition("/")[2])
    if resource.type == "jacquard:index:ObjectSet":
        members = [Manifest(body=body, cluster=cluster) for body in resource.inputs["members"].values()]
        return members + [
            Manifest(body=body, cluster=cluster)
            for patch in resource.inputs.get("patches", {}).values()
            for body in bodies(patch)
        ]
    if not resource.type.startswith("kubernetes:"):
        return []
    metadata = {**resource.inputs["metadata"]}
    metadata["annotations"] = {key: text for key, text in metadata["annotations"].items() if key not in ORDERS}
    if not metadata["annotations"]:
        del metadata["annotations"]
    item = Manifest(body={**resource.inputs, "metadata": metadata}, cluster=cluster)
    assert resource.type == type_token(item)
    return [item]


@pytest.mark.parametrize("name", REFERENCES)
def test_exactly_the_objects_of_an_environment_are_registered(run: Run, name: str) -> None:
    environment = reference(name)
    pieces = slices(environment)
    if environment.region.stacks is StackLayout.SLICED:
        pieces = tuple(
            {piece.kind: piece for piece in pieces}.values()
        )  # One of each kind, since a mocked engine is slow.

    registered = run(deploy(environment, *pieces))

    rendered = objects(tuple(item for piece in pieces for item in manifests(environment, piece)))
    wanted = {item.key: json.loads(json.dumps(item.body, default=dict)) for item in rendered}
    asked = [item for resource in registered for item in requested(resource)]
    assert {item.key: item.body for item in asked} == wanted
    assert len(asked) == len(wanted)


def test_a_stack_is_within_its_budget_of_resources(whole: list[Any]) -> None:
    assert len(whole) <= BUDGET


def test_names_are_unique_by_type_and_parent(whole: list[Any]) -> None:
    names = [(item.parent, item.type, item.name) for item in whole]

    assert len(set(names)) == len(names)


def test_edges_stay_few(whole: list[Any]) -> None:
    assert sum(len(item.dependencies) for item in whole) <= 10 * len(whole)


def test_components_wait_along_the_chain_of_gates(whole: list[Any]) -> None:
    parents = {item.name: item.parent for item in whole}
    waits: dict[str, set[str]] = {}
    for item in whole:
        if item.type.startswith("jacquard:components:"):
            name = f"{item.type.rsplit(':', 1)[1]} {item.name}"
            waits[name] = {parents[dependency] or dependency for dependency in item.dependencies}

    acme = {"acme-train-kubeconfig", "acme-train-system", "acme-train-train", "acme-train-infer"}
    assert waits == {
        "Region laptop": set(),
        "Isolation laptop": {"laptop"},
        "Inventory a": {"laptop"},
        "TenantNetwork acme": {"laptop"},
        "TenantNetwork globex": {"laptop"},
        "HostedControlPlane acme-train": {"acme"},
        "HostedControlPlane globex-lab": {"globex"},
        "NodePool acme-train-system": {"a", "acme-train"},
        "NodePool acme-train-train": {"a", "acme-train"},
        "NodePool acme-train-infer": {"a", "acme-train"},
        "NodePool globex-lab-lab": {"a", "globex-lab"},
        "RequestPriority acme-train": acme,
        "AddOns acme-train": acme,
        "Flux acme-train": {*acme, "acme-train"},
        "ClusterAccess acme-train": {*acme, "acme-train"},
        "ClusterDns acme-train": {*acme, "acme-train"},
        "StorageCatalog acme-train": {*acme, "acme-train"},
        "RequestPriority globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab"},
        "PodPriorities globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab"},
        "AddOns globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab"},
        "ClusterNamespaces globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab", "globex-lab"},
        "StorageCatalog globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab", "globex-lab"},
        "VmOffering acme-train": {*acme, "acme-train"},
    }


def test_a_tenant_cluster_is_reached_once_its_kubeconfig_was_fetched(whole: list[Any]) -> None:
    [command] = [item for item in whole if item.name == "acme-train-kubeconfig"]
    [provider] = [item for item in whole if item.type == "pulumi:providers:kubernetes" and item.name == "acme-train"]

    assert command.inputs == {
        "create": ".venv/bin/python -P -m stacks.kubeconfig laptop acme-train --timeout 900",
        "update": ".venv/bin/python -P -m stacks.kubeconfig laptop acme-train --timeout 900",
        "delete": ".venv/bin/python -P -m stacks.kubeconfig laptop acme-train --forget",
        "dir": "..",
    }
    assert "acme-train-kamajicontrolplane-acme-train" in command.dependencies
    assert provider.dependencies == {"acme-train-kubeconfig"}


def test_a_region_with_a_context_reaches_its_management_cluster_by_it(run: Run, environment: Environment) -> None:
    region = environment.region.model_copy(update={"context": "admin@ewr2"})
    named = environment.model_copy(update={"region": region})

    found = {
        (item.type, item.name): item.inputs
        for item in run(deploy(named, piece_called(environment, "cluster-globex-lab")))
    }

    assert found["pulumi:providers:kubernetes", MANAGEMENT]["context"] == "admin@ewr2"
    assert "context" not in found["pulumi:providers:kubernetes", "globex-lab"]
    assert found["command:local:Command", "globex-lab-kubeconfig"]["create"] == (
        ".venv/bin/python -P -m stacks.kubeconfig laptop globex-lab --timeout 900 --context admin@ewr2"
    )


def test_every_provider_keeps_the_policy_on_cluster_identifiers(whole: list[Any], environment: Environment) -> None:
    facts = [
        Fact(kind=PROVIDER, title=item.name, body=item.inputs)
        for item in whole
        if item.type in {"pulumi:providers:kubernetes", "pulumi:providers:jacquard"}
    ]

    assert len(facts) == 7
    judge = Judge(RULES, Context.of(environment, dt.datetime(2026, 11, 21, tzinfo=dt.UTC)))
    assert [item for fact in facts for item in judge.violations(fact)] == []


def test_a_cluster_slice_fetches_its_kubeconfig_by_itself(run: Run, environment: Environment) -> None:
    registered = run(deploy(environment, piece_called(environment, "cluster-globex-lab")))

    assert {(item.type, item.name) for item in registered if not item.parent} == {
        ("command:local:Command", "globex-lab-kubeconfig"),
        ("jacquard:components:RequestPriority", "globex-lab"),
        ("jacquard:components:PodPriorities", "globex-lab"),
        ("jacquard:components:AddOns", "globex-lab"),
        ("jacquard:components:ClusterNamespaces", "globex-lab"),
        ("jacquard:components:StorageCatalog", "globex-lab"),
        ("pulumi:providers:kubernetes", "globex-lab"),
        ("pulumi:providers:kubernetes", MANAGEMENT),
    }


def test_a_vpc_isolated_by_a_cluster_is_created_inside_it(run: Run, environment: Environment) -> None:
    second = with_backends(environment)

    registered = run(deploy(second, *slices(second)))

    [network] = [item for item in registered if item.name == "globex-lab-globex"]
    children = {item.type: item.provider for item in registered if item.parent == network.name}
    assert network.type == "jacquard:components:TenantNetwork"
    assert "globex-lab-kubeconfig" in network.dependencies
    assert children == {
        "kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease": "kubernetes/management",
        "kubernetes:kubeovn.io/v1:Vpc": "kubernetes/globex-lab",
        "kubernetes:kubeovn.io/v1:Subnet": "kubernetes/globex-lab",
    }


def test_a_control_plane_waits_for_the_region_if_its_vpc_is_created_inside_its_cluster(
    run: Run, environment: Environment
) -> None:
    second = with_backends(environment)

    registered = run(deploy(second, *slices(second)))

    parents = {item.name: item.parent for item in registered}
    planes = [item for item in registered if item.type == "jacquard:components:HostedControlPlane"]
    assert planes
    assert [{parents[one] or one for one in plane.dependencies} for plane in planes] == [{"laptop"}] * len(planes)


def test_a_concept_without_a_component_is_refused(environment: Environment) -> None:
    class QuotaInput:
        name = "acme"

        def render(self) -> tuple[Rendered, ...]:
            return ()

    with pytest.raises(TypeError, match=r"^QuotaInput 'acme' has no component; give it a row in stacks/deploy\.py$"):
        Deployment(environment.region, KUBECONFIGS).add(Made(QuotaInput()))


def test_a_stack_of_one_slice_needs_no_other(run: Run, environment: Environment) -> None:
    for piece in slices(environment):
        objects = {item.name for item in run(deploy(environment, piece)) if item.type.startswith("kubernetes:")}
        assert len(objects) == len([item for item in manifests(environment, piece) if isinstance(item, Manifest)])


def test_resources_record_a_few_callers_the_innermost_in_the_project(whole: list[Any]) -> None:
    counts = {len(item.callers) for item in whole}
    innermost = {item.callers[0] for item in whole}

    assert counts == {2, 3}
    assert innermost == {(paths.ROOT / file).as_uri() for file in ("components/resources.py", "stacks/deploy.py")}
