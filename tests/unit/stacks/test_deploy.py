"""A whole stack as the engine would be asked for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from second_backends import with_backends

from components.plan.inputs import Input, inputs
from components.plan.manifests import manifests
from components.plan.slices import Slice, slices
from components.render.manifest import MANAGEMENT, Manifest, ManifestSet
from components.resources import type_token
from components.specs.environment import Environment
from components.specs.loader import load_environment
from policies.facts import PROVIDER, Context, Fact
from policies.judging import Judge
from policies.rules import RULES
from stacks.bootstrap import deploy_clusters
from stacks.deploy import Deployment
from toolchain import paths

Run = Callable[..., list[Any]]
BUDGET = 300
KUBECONFIGS = Path("/kubeconfigs")


@pytest.fixture(scope="module")
def environment() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


def deploy(environment: Environment, *pieces: Slice) -> Callable[[], None]:
    concepts: list[Input] = [concept for piece in pieces for concept in inputs(environment, piece)]

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


def test_the_resources_of_a_stack_are_its_manifests(whole: list[Any], environment: Environment) -> None:
    wanted = [item for piece in slices(environment) for item in manifests(environment, piece)]

    objects = sorted(
        (
            item.provider.split("/")[1],
            item.type,
            item.inputs["metadata"].get("namespace"),
            item.inputs["metadata"]["name"],
        )
        for item in whole
        if item.type.startswith("kubernetes:")
    )
    sets = sorted(sorted(item.inputs["members"]) for item in whole if item.type == "jacquard:index:ObjectSet")
    assert objects == sorted(
        (item.cluster, type_token(item), item.namespace, item.name) for item in wanted if isinstance(item, Manifest)
    )
    assert sets == sorted(sorted(item.members) for item in wanted if isinstance(item, ManifestSet))


def test_a_stack_stays_within_its_budget_of_resources(whole: list[Any]) -> None:
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

    assert waits == {
        "Region laptop": set(),
        "Inventory a": {"laptop"},
        "TenantNetwork acme": {"laptop"},
        "TenantNetwork globex": {"laptop"},
        "HostedControlPlane acme-train": {"acme"},
        "HostedControlPlane globex-lab": {"globex"},
        "NodePool acme-train-system": {"a", "acme-train"},
        "NodePool acme-train-train": {"a", "acme-train"},
        "NodePool acme-train-infer": {"a", "acme-train"},
        "NodePool globex-lab-lab": {"a", "globex-lab"},
        "ClusterAccess acme-train": {
            "acme-train-kubeconfig",
            "acme-train-system",
            "acme-train-train",
            "acme-train-infer",
        },
        "StorageCatalog acme-train": {
            "acme-train-kubeconfig",
            "acme-train-system",
            "acme-train-train",
            "acme-train-infer",
        },
        "StorageCatalog globex-lab": {"globex-lab-kubeconfig", "globex-lab-lab"},
        "VmOffering acme-train": {
            "acme-train-kubeconfig",
            "acme-train-system",
            "acme-train-train",
            "acme-train-infer",
            "acme-train",
        },
    }


def test_a_tenant_cluster_is_reached_once_its_kubeconfig_was_fetched(whole: list[Any]) -> None:
    [command] = [item for item in whole if item.name == "acme-train-kubeconfig"]
    [provider] = [item for item in whole if item.type == "pulumi:providers:kubernetes" and item.name == "acme-train"]

    assert command.inputs == {
        "create": ".venv/bin/python -m stacks.kubeconfig laptop acme-train --timeout 900",
        "update": ".venv/bin/python -m stacks.kubeconfig laptop acme-train --timeout 900",
        "delete": ".venv/bin/python -m stacks.kubeconfig laptop acme-train --forget",
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
        ".venv/bin/python -m stacks.kubeconfig laptop globex-lab --timeout 900 --context admin@ewr2"
    )


def test_every_provider_keeps_the_policy_on_cluster_identifiers(whole: list[Any], environment: Environment) -> None:
    facts = [
        Fact(kind=PROVIDER, title=item.name, body=item.inputs)
        for item in whole
        if item.type in {"pulumi:providers:kubernetes", "pulumi:providers:jacquard"}
    ]

    assert len(facts) == 4
    judge = Judge(RULES, Context.of(environment, dt.datetime(2026, 11, 21, tzinfo=dt.UTC)))
    assert [item for fact in facts for item in judge.violations(fact)] == []


def test_a_cluster_slice_fetches_its_kubeconfig_by_itself(run: Run, environment: Environment) -> None:
    registered = run(deploy(environment, piece_called(environment, "cluster-globex-lab")))

    assert {(item.type, item.name) for item in registered if not item.parent} == {
        ("command:local:Command", "globex-lab-kubeconfig"),
        ("jacquard:components:StorageCatalog", "globex-lab"),
        ("pulumi:providers:kubernetes", "globex-lab"),
        ("pulumi:providers:kubernetes", MANAGEMENT),
    }


def test_a_vpc_that_a_cluster_isolates_is_made_inside_it(run: Run, environment: Environment) -> None:
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


def test_a_stack_of_one_slice_needs_no_other(run: Run, environment: Environment) -> None:
    for piece in slices(environment):
        objects = {item.name for item in run(deploy(environment, piece)) if item.type.startswith("kubernetes:")}
        assert len(objects) == len([item for item in manifests(environment, piece) if isinstance(item, Manifest)])


def test_a_rehearsal_makes_every_cluster_by_a_command_of_its_own(run: Run, environment: Environment) -> None:
    registered = run(lambda: deploy_clusters(environment), stack="laptop.bootstrap")

    assert {item.name: (item.inputs["create"], item.inputs["delete"]) for item in registered} == {
        f"laptop-{cluster}": (
            f".venv/bin/python -m rehearsal up laptop --cluster {cluster}",
            f".venv/bin/python -m rehearsal down laptop --cluster {cluster}",
        )
        for cluster in ("management", "acme-train", "globex-lab")
    }
    assert {item.dependencies for item in registered} == {frozenset()}
