"""Dual-stack cases without an example environment: Kamaji, clusters with own prefixes, network policies.

Also values that must agree in two objects of one cluster.
"""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs import hosted_control_plane, tenant_network
from components.lookups.add_ons import facts
from components.lookups.pools import clusters
from components.render.add_ons.cni import calico, cilium
from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput, TeamNamespace
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.network.policy_only import render
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.template_revision_1 import build
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Isolation
from components.specs.network.vpc_allocation import MorePrefix, VpcAllocation
from components.specs.reading.loader import load_environment
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.changes.node_intents import INTENT
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.rendered_objects import objects_of

PODS, SERVICES = Network6("fd42::/56"), Network6("fd42:0:0:100::/112")
TOLD = "--kubelet-extra-args=--node-ip=0.0.0.0"


def dual(numbers: VpcAllocation) -> VpcAllocation:
    return numbers.model_copy(update={"pods_ipv6": PODS, "services_ipv6": SERVICES})


@pytest.mark.parametrize("control_plane", ControlPlaneBackend)
@pytest.mark.parametrize("bare_metal", BareMetalBackend)
def test_only_k0s_workers_of_dual_stack_clusters_have_an_explicit_node_ip(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    alone = replace(INTENT, taints=(), control_plane=control_plane, bare_metal=bare_metal)
    before, after = build(alone), build(replace(alone, dual_stack=True))

    if control_plane is ControlPlaneBackend.KAMAJI:
        assert after == before
        return
    spec = after.bootstrap["template"]["spec"]
    assert {**spec, "args": [one for one in spec["args"] if one != TOLD]} == before.bootstrap["template"]["spec"]
    assert spec["args"].count(TOLD) == 1
    assert sum(one.startswith("--kubelet-extra-args") for one in spec["args"]) == 1


@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_a_cluster_has_the_prefixes_of_both_families_that_of_ipv4_first(
    inputs_of: Any, backend: ControlPlaneBackend
) -> None:
    first: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    one = replace(first, backend=backend, network=dual(first.network))

    [cluster] = [item for item in objects_of(one) if item.kind == "Cluster"]

    network = cluster.body["spec"]["clusterNetwork"]
    assert network["pods"]["cidrBlocks"] == ["10.64.0.0/16", str(PODS)]
    assert network["services"]["cidrBlocks"] == ["10.65.0.0/20", str(SERVICES)]


def test_a_cluster_with_its_own_prefixes_has_none_of_the_vpcs_ipv6(inputs_of: Any) -> None:
    numbers = dual(inputs_of(HostedControlPlaneInput)[0].network)
    own = MorePrefix.model_validate({"kind": "pods", "prefix": "10.66.0.0/20", "cluster": "acme-serve"})
    both = numbers.model_copy(update={"more_prefixes": {"serve-pods": own}})

    assert both.of_cluster("acme-train").ipv6 == {"pods": PODS, "services": SERVICES}
    assert both.of_cluster("acme-serve").ipv6 == {}


def test_the_cni_of_a_cluster_has_the_ranges_of_its_control_plane() -> None:
    environment = load_environment("eu-south-03a", ENVIRONMENTS)
    placed = next(one for one in clusters(environment) if one.cluster.name == "vireo-dev")
    planes = hosted_control_plane.of_tenant(environment, placed.tenant)
    plane = next(one for one in planes if one.spec.name == placed.cluster.name)

    [cluster] = [item for item in objects_of(plane) if item.kind == "Cluster"]
    [network] = tenant_network.of_cluster(environment, placed)
    [release] = [item for item in network.render() if item.kind == "HelmRelease"]

    ranges, values = cluster.body["spec"]["clusterNetwork"], release.body["spec"]["values"]["dual_stack"]
    assert ranges["pods"]["cidrBlocks"] == values["POD_CIDR"].split(",")
    assert ranges["services"]["cidrBlocks"] == values["SVC_CIDR"].split(",")


def test_cilium_has_ipv6_if_pods_have_it_and_calico_never() -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    known = facts(environment, next(clusters(environment)))
    assert "ipv6" not in cilium(known)

    values = cilium(replace(known, pods_ipv6=PODS))

    assert values["ipv6"] == {"enabled": True}
    assert values["ipam"]["operator"]["clusterPoolIPv6PodCIDRList"] == [str(PODS)]
    assert calico(replace(known, pods_ipv6=PODS)) == calico(known)


def test_a_policy_only_permits_ipv6_of_the_cluster_itself(inputs_with: Any) -> None:
    found: TenantNetworkInput = inputs_with(TenantNetworkInput, isolation=Isolation.POLICY_ONLY)[0]
    vpc = replace(found.vpc, numbers=dual(found.vpc.numbers))

    [policy] = render(vpc, found.platform.networks, "acme-train")

    spec = policy.body["spec"]
    for peers in (spec["ingress"][0]["from"], spec["egress"][0]["to"]):
        assert [one["ipBlock"]["cidr"] for one in peers if ":" in one["ipBlock"]["cidr"]] == [str(PODS), str(SERVICES)]


def test_network_policies_of_namespaces_permit_no_ipv6_address(inputs_of: Any) -> None:
    """Namespaces permit their pods of both families; an IPv4 block permits nothing of IPv6."""
    first: ClusterNamespacesInput = inputs_of(ClusterNamespacesInput)[0]
    open_one = NamespaceSpec.model_validate({"name": "open", "ingress": "public", "egress": "public"})

    rendered = replace(first, namespaces=(TeamNamespace(spec=open_one),)).render()

    [policy] = [item for item in rendered if item.kind == "NetworkPolicy"]
    rules = [*policy.body["spec"]["ingress"], *policy.body["spec"]["egress"]]
    peers = [peer for rule in rules for peer in (*rule.get("from", ()), *rule.get("to", ()))]
    assert all(":" not in peer["ipBlock"]["cidr"] for peer in peers if "ipBlock" in peer)
    assert all(rule.get("from") or rule.get("to") for rule in rules)
