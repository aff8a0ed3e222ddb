"""Two clusters in one VPC: separate prefixes, and shared objects of the VPC."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network
from itertools import combinations

import pytest

from components.allocate.allocation import allocate
from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.reports.network.border import contract
from components.reports.network.network import network
from components.reports.network.paths import path
from components.rules.checks import check_data
from components.specs.environment import Environment
from components.specs.network.tenant_network import MorePrefixSpec
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS

TRAIN, SERVE = "acme-train", "acme-serve"
OWN = (
    {"name": "serve-services", "kind": "services", "size": "/22", "cluster": SERVE},
    {"name": "serve-pods", "kind": "pods", "size": "/20", "cluster": SERVE},
    {"name": "serve-balancers", "kind": "load_balancers", "size": "/28", "cluster": SERVE},
    {"name": "burst", "kind": "load_balancers", "size": "/28"},
)


@pytest.fixture(scope="module")
def before() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


@pytest.fixture(scope="module")
def both(before: Environment) -> Environment:
    """Return region laptop with a second cluster in the VPC of the first."""
    [acme, globex] = before.tenants
    train = acme.clusters[0]
    pool = NodePoolSpec(name="system", instance_type="cpu-gen4", nodes=2, role=PoolRole.SYSTEM)
    serve = train.model_copy(update={"name": SERVE, "pools": (pool,)})
    more = tuple(MorePrefixSpec.model_validate(one) for one in OWN)
    vpc = acme.vpcs[0].model_copy(update={"more_prefixes": more})
    grown = acme.model_copy(update={"vpcs": (vpc,), "clusters": (train, serve), "contract": ()})
    asked = before.model_copy(update={"tenants": (grown, globex)})
    numbers, pins = allocate(asked)
    return asked.model_copy(update={"allocations": numbers, "image_pins": pins})


@pytest.fixture(scope="module")
def rendered(both: Environment) -> list[Manifest]:
    return [item for item in everything(both) if isinstance(item, Manifest)]


def _specs(items: Iterable[Manifest], kind: str, cluster: str) -> dict[str, dict[str, object]]:
    return {item.name: item.body["spec"] for item in items if item.kind == kind and item.cluster == cluster}


def test_no_rule_of_the_data_minds(both: Environment) -> None:
    assert check_data(both) == []


def test_the_cluster_that_was_there_keeps_all_numbers(before: Environment, both: Environment) -> None:
    old, new = before.allocations.vpcs["acme"], both.allocations.vpcs["acme"]

    assert new.model_copy(update={"more_prefixes": {}}) == old
    assert both.allocations.clusters[TRAIN] == before.allocations.clusters[TRAIN]
    assert {name: str(more.cluster) for name, more in new.more_prefixes.items()} == {
        "serve-services": SERVE,
        "serve-pods": SERVE,
        "serve-balancers": SERVE,
        "burst": "None",
    }


def test_each_cluster_uses_separate_prefixes_for_pods_services_and_load_balancers(
    both: Environment, rendered: list[Manifest]
) -> None:
    more = {name: str(one.prefix) for name, one in both.allocations.vpcs["acme"].more_prefixes.items()}
    networks = {
        item.name: item.body["spec"]["clusterNetwork"]
        for item in rendered
        if item.kind == "Cluster" and item.api_version.startswith("cluster.x-k8s.io")
    }
    assert networks[TRAIN]["pods"]["cidrBlocks"] == ["10.64.0.0/16"]
    assert networks[SERVE]["pods"]["cidrBlocks"] == [more["serve-pods"]]
    assert networks[SERVE]["services"]["cidrBlocks"] == [more["serve-services"]]

    pools = {name: _specs(rendered, "IPAddressPool", name) for name in (TRAIN, SERVE)}
    assert pools[SERVE] == {"vpc": {"addresses": [more["serve-balancers"]]}}
    assert pools[TRAIN]["vpc"] == {"addresses": ["10.65.17.0/26", more["burst"]]}
    assert "public" in pools[TRAIN]
    values = [item.body["spec"]["values"] for item in rendered if (item.kind, item.name) == ("HelmRelease", "cilium")]
    lists = [value["ipam"]["operator"]["clusterPoolIPv4PodCIDRList"] for value in values if "ipam" in value]
    assert [more["serve-pods"]] in lists
    every = [IPv4Network(one) for one in (*networks[TRAIN]["pods"]["cidrBlocks"], *more.values())]
    assert not any(one.overlaps(other) for one, other in combinations(every, 2))


def test_dpus_and_edge_routers_permit_announcements_of_both(both: Environment) -> None:
    [vpc] = [one for one in contract(both).vpcs if one.vpc == "acme"]
    more = both.allocations.vpcs["acme"].more_prefixes

    assert {one.prefix for one in more.values()} < {accepted.prefix for accepted in vpc.accepts}
    assert len([one for one in vpc.announces if one.why == "its control plane"]) in {0, 2}
    assert path(both, f"pod:{SERVE}", f"pod:{TRAIN}").reached
    assert path(both, f"pod:{TRAIN}", f"api:{SERVE}").reached
    assert path(both, f"pod:{SERVE}", f"pod:{TRAIN}").source.address == more["serve-pods"].prefix


def test_reports_have_both_clusters_with_their_own(both: Environment) -> None:
    [vpc] = [one for one in network(both).vpcs if one.vpc == "acme"]

    assert [one.cluster for one in vpc.clusters] == [TRAIN, SERVE]
    assert [len(one.public_addresses) for one in vpc.clusters] == [1, 0]
    assert vpc.prefixes["pods/serve-pods"] == both.allocations.vpcs["acme"].more_prefixes["serve-pods"].prefix


def test_a_vm_of_the_second_cluster_sends_as_a_pod_of_it(both: Environment) -> None:
    [acme, globex] = both.tenants
    assert acme.vms is not None
    moved = acme.model_copy(update={"vms": acme.vms.model_copy(update={"cluster": SERVE})})
    asked = both.model_copy(update={"tenants": (moved, globex)})
    numbers, pins = allocate(asked)
    region = asked.model_copy(update={"allocations": numbers, "image_pins": pins})

    steps = path(region, f"vm:{SERVE}/bastion", f"pod:{TRAIN}").steps

    assert [step.rule for step in steps if "serve-pods" in step.rule] != []
