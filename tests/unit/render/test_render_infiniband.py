"""A VPC's partition on an InfiniBand fabric, in its cluster and beside the cluster's API."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from components.plan.allocate.allocation import allocate
from components.plan.build.charts import needed_charts
from components.plan.build.inputs import inputs
from components.plan.build.slices import slices
from components.plan.report.offerings import offerings
from components.render.manifest import Manifest
from components.render.tenant_network import TenantNetworkInput
from components.specs.environment import Environment
from components.specs.fabric import FabricSpec
from components.specs.instance_types import RdmaSpec

FABRIC = FabricSpec.model_validate(
    {
        "name": "ib-north",
        "kind": "infiniband",
        "pkeys": "0x10-0x20",
        "guids": "0x0200000000000000-0x020000000000ffff",
        "ufm_secret": "ufm-north",
        "max_hosts": 64,
    },
    strict=False,
)


@pytest.fixture(scope="module")
def region(laptop: Environment) -> Environment:
    """Return laptop with a fabric on which acme's VPC has a partition."""
    acme, *others = laptop.tenants
    acme = acme.model_copy(
        update={"vpcs": tuple(vpc.model_copy(update={"fabrics": (FABRIC.name,)}) for vpc in acme.vpcs)}
    )
    spec = laptop.region.model_copy(update={"fabrics": (FABRIC,)})
    environment = laptop.model_copy(update={"region": spec, "tenants": (acme, *others)})
    return environment.model_copy(update={"allocations": allocate(environment)[0]})


def in_cluster(environment: Environment) -> list[TenantNetworkInput]:
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return [item for item in every if isinstance(item, TenantNetworkInput) and item.cluster is not None]


@pytest.fixture(scope="module")
def rendered(region: Environment) -> tuple[Manifest, ...]:
    [network] = in_cluster(region)
    return network.render()


def test_only_a_cluster_with_nodes_on_a_fabric_has_a_partition(laptop: Environment, region: Environment) -> None:
    assert in_cluster(laptop) == []
    assert [(item.name, item.cluster) for item in in_cluster(region)] == [("acme-train-acme", "acme-train")]
    assert needed_charts(region)["network-operator"] == ("tenants/acme.yaml", ("clusters", 0))
    assert "network-operator" not in needed_charts(laptop)


def test_objects_are_made_after_the_operator_that_knows_their_kinds(rendered: tuple[Manifest, ...]) -> None:
    assert [(item.cluster, item.namespace, item.kind, item.name) for item in rendered] == [
        ("acme-train", None, "Namespace", "network-operator"),
        ("management", "acme-train", "HelmRelease", "network-operator"),
        ("acme-train", None, "NicClusterPolicy", "nic-cluster-policy"),
        ("acme-train", "network-operator", "SriovOperatorConfig", "default"),
        ("acme-train", "network-operator", "SriovNetworkNodePolicy", "h100-ib-8"),
        ("acme-train", "default", "NetworkAttachmentDefinition", "ib-north"),
        ("management", "acme-train", "Deployment", "ib-kubernetes-ib-north"),
    ]
    assert rendered[1].readiness is not None
    assert rendered[1].body["spec"]["values"] == {
        "nfd": {"enabled": False},
        "sriovNetworkOperator": {"enabled": True},
        "sriov-network-operator": {"sriovOperatorConfig": {"deploy": False}},
    }


def test_a_vpc_in_its_clusters_has_its_partition_beside_it(region: Environment) -> None:
    [network] = in_cluster(region)
    kube_ovn = replace(
        network, vpc=replace(network.vpc, spec=network.vpc.spec.model_copy(update={"isolation": "kube-ovn"}))
    )

    kinds = [item.kind for item in kube_ovn.render()]

    assert kinds[:3] == ["HelmRelease", "Vpc", "Subnet"]
    assert kinds[3:] == [item.kind for item in network.render()]


def test_a_pod_is_told_to_ask_for_what_there_is(region: Environment, rendered: tuple[Manifest, ...]) -> None:
    [offer] = offerings(region).rdma
    [attachment] = [item for item in rendered if item.kind == "NetworkAttachmentDefinition"]
    [functions] = [item.body["spec"] for item in rendered if item.kind == "SriovNetworkNodePolicy"]

    assert offer.networks == f"{attachment.namespace}/{attachment.name}"
    assert attachment.body["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": offer.resource}
    assert offer.resource.endswith(f"/{functions['resourceName']}")
    assert offer.functions == offer.ports * functions["numVfs"] == 8 * 16


def test_an_rdma_device_is_moved_into_a_pod_where_the_instance_type_says_so(region: Environment) -> None:
    def attachment(rdma: RdmaSpec | None) -> dict[str, object]:
        catalog = region.instance_types
        kinds = tuple(kind.model_copy(update={"rdma": rdma}) for kind in catalog.instance_types)
        changed = catalog.model_copy(update={"instance_types": kinds})
        [network] = in_cluster(region.model_copy(update={"instance_types": changed}))
        [found] = [item for item in network.render() if item.kind == "NetworkAttachmentDefinition"]
        return json.loads(found.body["spec"]["config"])

    shared = attachment(None)
    assert "rdmaIsolation" not in shared
    assert attachment(RdmaSpec(exclusive=False)) == shared
    assert attachment(RdmaSpec(exclusive=True)) == {**shared, "rdmaIsolation": True}


def test_multus_comes_through_the_mirror_by_digest(region: Environment, rendered: tuple[Manifest, ...]) -> None:
    [policy] = [item for item in rendered if item.kind == "NicClusterPolicy"]
    tool = region.versions.tool("multus-cni")

    multus = policy.body["spec"]["secondaryNetwork"]["multus"]

    assert "{repository}/{image}@{version}".format(**multus) == str(tool)
    assert multus["version"].startswith("sha256:")
