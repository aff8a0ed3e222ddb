"""Creation and deletion of tenant networks: a VPC on OVN, a second cluster in a VPC on HBN, shared OVN objects.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from components.render.network.dpu_services import OVN
from components.render.network.ovn_services import SERVICES, WRITER
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.network import dpu_ends
from tests.support.engine.engine_order import applied, assert_in_order, operations_on, previewed
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit
from tests.support.local_regions.region_contents import commit
from tests.support.local_regions.region_steps import edited

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

VPC_API, SERVICE_API = "vpc.dpu.nvidia.com/v1alpha1", "svc.dpu.nvidia.com/v1alpha1"
FIRST, SECOND, ON_OVN = "acme-train", "acme-serve", "globex-lab"
ACME, GLOBEX = (f"{ENVIRONMENT}/tenants/{tenant}.yaml" for tenant in ("acme", "globex"))
OWN = [
    {"name": f"serve-{index}", "kind": kind, "size": size, "cluster": SECOND}
    for index, (kind, size) in enumerate({"pods": "/20", "services": "/22", "load_balancers": "/28"}.items())
]
OF_OVN = {
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"): {"ovn-central", "vpc-ovn-controller"},
    (VPC_API, "IsolationClass"): {OVN},
}
"""Objects of a region that all VPCs on OVN share, by kind."""
HELD = {
    (VPC_API, "IsolationClass"): dpu_ends.CLASS_HELD,
    (VPC_API, "DPUVPC"): dpu_ends.VPC_HELD,
    (VPC_API, "DPUVirtualNetwork"): dpu_ends.NETWORK_HELD,
    (SERVICE_API, "DPUDeployment"): dpu_ends.DEPLOYMENT_HELD,
    (SERVICE_API, "DPUServiceConfiguration"): dpu_ends.DEPLOYMENT_HELD,
}
"""Finalizers that keep an object while other objects depend on it, as in DPF, by kind."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with small pools and a second cluster of its first tenant."""
    local = LocalRegion(tmp_path_factory.mktemp("networks"))
    local.rewrite(ACME, with_a_second_cluster)
    local.rewrite(GLOBEX, lambda tenant: tenant["clusters"][0].update(storage=[], add_ons=["cilium"], namespaces=[]))
    for path in (local.environments / ENVIRONMENT).glob("*.lock.yaml"):
        path.unlink()
    edited(local, "allocate", ENVIRONMENT)
    with deleted_at_exit(local):
        yield local


def with_a_second_cluster(tenant: dict[str, Any]) -> None:
    [vpc], [cluster] = tenant["vpcs"], tenant["clusters"]
    cluster.update(storage=[], add_ons=["cilium"], pools=[{"name": "gpus", "instance_type": "h100-ib-8", "nodes": 2}])
    cluster.pop("flux")
    pool = {"name": "cpus", "instance_type": "cpu-gen4", "nodes": 2}
    second = {
        **copy.deepcopy(cluster),
        "name": SECOND,
        "control_plane": {"replicas": 2, "data_store": "shared-a"},
        "pools": [pool],
    }
    vpc["more_prefixes"] = OWN
    tenant.update(clusters=[cluster, second], contract=[])
    tenant.pop("vms")


def data(local: LocalRegion) -> Environment:
    return load_environment(ENVIRONMENT, local.environments)


def names(local: LocalRegion, api_version: str, kind: str, namespace: str | None = None) -> set[str]:
    return {body["metadata"]["name"] for body in local.api().list(api_version, kind, namespace=namespace)}


def finalizers(local: LocalRegion, api_version: str, kind: str) -> set[str]:
    """Return the finalizers of objects of a kind; each object must have one."""
    found = [body["metadata"].get("finalizers") for body in local.api().list(api_version, kind)]
    assert None not in found
    return {name for one in found for name in one or ()}


def deployments(local: LocalRegion) -> dict[str, dict[str, Any]]:
    """Return the number of DPUs of each DPUDeployment, and whether they match their pins."""
    return {one["deployment"]: one for one in local.status()["dpu_deployments"]}


def test_all_networks_become_ready_with_their_clusters(region: LocalRegion) -> None:
    region.up()

    found = deployments(region)
    assert {name for name, one in found.items() if one["settled"]} == {"acme", "globex", "unassigned"}
    nodes = {cluster: region.api(cluster).list("v1", "Node") for cluster in (FIRST, SECOND, ON_OVN)}
    assert {cluster: len(one) for cluster, one in nodes.items()} == {FIRST: 2, SECOND: 2, ON_OVN: 4}
    assert (found["acme"]["total"], found["globex"]["total"]) == (6, 5)  # Each pool has a spare.


def test_each_cluster_of_a_vpc_has_separate_prefixes(region: LocalRegion) -> None:
    numbers, found = data(region).allocations.vpcs["acme"], {}
    for body in region.api().list("cluster.x-k8s.io/v1beta2", "Cluster"):
        networks = body["spec"]["clusterNetwork"]
        found[body["metadata"]["name"]] = [networks[kind]["cidrBlocks"] for kind in ("pods", "services")]

    own = {cluster: numbers.of_cluster(cluster) for cluster in (FIRST, SECOND)}
    wanted = {cluster: [[str(one.pods)], [str(one.services)]] for cluster, one in own.items()}
    assert {cluster: found[cluster] for cluster in own} == wanted
    assert not own[FIRST].pods.overlaps(own[SECOND].pods)


def test_a_vpc_on_ovn_has_its_network_and_the_region_the_shared_ovn_objects(region: LocalRegion) -> None:
    [network] = region.api().list(VPC_API, "DPUVirtualNetwork")
    [deployment] = (
        one for one in region.api().list(SERVICE_API, "DPUDeployment") if one["metadata"]["name"] == "globex"
    )

    hosts = data(region).allocations.vpcs["globex"].hosts
    assert network["spec"]["bridgedNetwork"]["ipam"]["ipv4"]["subnet"] == str(hosts)
    assert deployment["spec"]["services"].keys() == SERVICES.keys()
    for kind, wanted in OF_OVN.items():
        assert wanted <= names(region, *kind)


def test_retired_clusters_leave_their_networks_without_nodes(region: LocalRegion) -> None:
    networks = names(region, VPC_API, "DPUVirtualNetwork")
    region.rewrite(ACME, lambda tenant: tenant["clusters"][1].update(retire=True))
    region.rewrite(GLOBEX, lambda tenant: (tenant["clusters"][0].update(retire=True), tenant.update(contract=[])))
    edited(region, "allocate", ENVIRONMENT)

    region.up()

    assert names(region, VPC_API, "DPUVirtualNetwork") == networks
    assert deployments(region)["globex"]["total"] == 5  # Hosts are released with the cluster.
    hosts = region.api().list("metal3.io/v1alpha1", "BareMetalHost")
    assert {body["metadata"]["namespace"] for body in hosts if body["spec"].get("consumerRef")} == {FIRST}


def test_a_vpc_is_deleted_with_its_tenant_and_a_second_cluster_with_its_prefixes(region: LocalRegion) -> None:
    held = {kind: finalizers(region, *kind) for kind in HELD}
    assert held == {kind: {finalizer} for kind, finalizer in HELD.items()}
    commit(region)
    (region.environments / GLOBEX).unlink()
    region.rewrite(ACME, lambda tenant: (tenant["clusters"].pop(), tenant["vpcs"][0].pop("more_prefixes")))
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region)

    assert (plan.blocked, plan.token) == ([], None)  # No VPC uses it any more.
    assert plan.names["delete"]["DPUVPC"] == {"tenant-globex/globex"}
    kinds = ("DPUServiceInterface", "DPUVirtualNetwork", "DPUVPC")
    assert_in_order(*(operations_on(done, "delete", kind, "globex-") for kind in kinds))
    assert_in_order(
        *(operations_on(done, "delete", kind, "globex-") for kind in ("DPUDeployment", "DPUServiceConfiguration"))
    )
    assert {kind for kind in ("DPUVPC", "DPUVirtualNetwork") if names(region, VPC_API, kind)} == set()
    assert names(region, SERVICE_API, "DPUServiceInterface", "tenant-globex") == set()
    assert names(region, SERVICE_API, "DPUDeployment") == {"acme", "unassigned"}
    for kind, wanted in OF_OVN.items():
        assert wanted <= names(region, *kind)  # Objects that all VPCs share are kept.


def test_ovn_is_deleted_after_its_last_vpc(region: LocalRegion) -> None:
    commit(region)
    region.rewrite(
        f"{ENVIRONMENT}/region.yaml", lambda data: (data["dpus"].pop("ovn_central"), data["networks"].pop("ovn"))
    )
    edited(region, "allocate", ENVIRONMENT)

    plan = previewed(region)
    done = applied(region, *(("--confirm", plan.token) if plan.token else ()))

    assert plan.names["delete"]["IsolationClass"] == {OVN}
    writer = [one for one in operations_on(done, "delete", "HelmRelease") if one.name.endswith(WRITER)]
    assert_in_order(operations_on(done, "delete", "IsolationClass"), writer)
    for kind, gone in OF_OVN.items():
        assert not gone & names(region, *kind)
