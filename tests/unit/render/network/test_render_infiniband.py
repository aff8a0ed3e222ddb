"""A VPC's partition on an InfiniBand fabric, in its cluster and in the management cluster."""

from __future__ import annotations

import json

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.charts import needed_charts
from components.lookups.slices import slices
from components.render.manifest import Manifest
from components.render.network.tenant_network import TenantNetworkInput
from components.reports.offerings import offerings
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.struct import replace
from tests.support.network.on_infiniband import on_infiniband


@pytest.fixture(scope="module")
def region(laptop: Environment) -> Environment:
    """Return laptop with a fabric on which acme's VPC has a partition."""
    return on_infiniband(laptop)


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


def test_objects_are_created_after_the_operator_with_their_kinds(rendered: tuple[Manifest, ...]) -> None:
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
    # Hooks would need a node, and ``up`` waits for the release before the first node joins.
    assert rendered[1].body["spec"]["install"]["disableHooks"] is True
    services = {
        "nodeSelector": {"node-restriction.kubernetes.io/role": "system"},
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
    }
    assert rendered[1].body["spec"]["values"] == {
        "nfd": {"enabled": False},
        "operator": {**services, "resources": {"limits": {"memory": "328Mi"}}},
        "sriovNetworkOperator": {"enabled": True},
        "sriov-network-operator": {"operator": services, "sriovOperatorConfig": {"deploy": False}},
    }


def test_multus_runs_on_nodes_with_any_taint(rendered: tuple[Manifest, ...]) -> None:
    [policy] = [item for item in rendered if item.kind == "NicClusterPolicy"]

    assert policy.body["spec"]["tolerations"] == [{"operator": "Exists"}]


def test_a_vpc_has_its_partition_next_to_its_cluster(region: Environment) -> None:
    [network] = in_cluster(region)
    kube_ovn = replace(
        network, vpc=replace(network.vpc, spec=network.vpc.spec.model_copy(update={"isolation": "kube-ovn"}))
    )

    kinds = [item.kind for item in kube_ovn.render()]

    assert kinds[:3] == ["HelmRelease", "Vpc", "Subnet"]
    assert kinds[3:] == [item.kind for item in network.render()]


def test_an_example_pod_requests_existing_resources(region: Environment, rendered: tuple[Manifest, ...]) -> None:
    [offer] = offerings(region).rdma
    [attachment] = [item for item in rendered if item.kind == "NetworkAttachmentDefinition"]
    [functions] = [item.body["spec"] for item in rendered if item.kind == "SriovNetworkNodePolicy"]

    assert offer.networks == f"{attachment.namespace}/{attachment.name}"
    assert attachment.body["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": offer.resource}
    assert offer.resource.endswith(f"/{functions['resourceName']}")
    assert offer.functions == offer.ports * functions["numVfs"] == 8 * 16


def test_an_rdma_device_is_moved_into_a_pod_if_the_instance_type_requires_it(laptop: Environment) -> None:
    def attachment(rdma: RdmaSpec | None) -> dict[str, object]:
        [network] = in_cluster(on_infiniband(laptop, rdma))
        [found] = [item for item in network.render() if item.kind == "NetworkAttachmentDefinition"]
        return json.loads(found.body["spec"]["config"])

    shared = attachment(None)
    assert "rdmaIsolation" not in shared
    assert attachment(RdmaSpec(exclusive=False)) == shared
    assert attachment(RdmaSpec(exclusive=True)) == {**shared, "rdmaIsolation": True}


def test_whole_ports_are_handed_out_without_attachment_and_without_guids(laptop: Environment) -> None:
    region = on_infiniband(laptop, RdmaSpec(ports=PortUse.WHOLE))
    [network] = in_cluster(region)
    found = network.render()

    assert [(item.kind, item.name) for item in found[2:]] == [
        ("NicClusterPolicy", "nic-cluster-policy"),
        ("SriovOperatorConfig", "default"),
        ("NicNodePolicy", "h100-ib-8"),
    ]
    spec = found[-1].body["spec"]
    assert spec["nodeSelector"] == {"node-restriction.kubernetes.io/instance-type": "h100-ib-8"}
    plugin = spec["sriovDevicePlugin"]
    assert "{repository}/{image}@{version}".format(**plugin) == str(region.versions.tool("sriov-network-device-plugin"))
    [resource] = json.loads(plugin["config"])["resourceList"]
    assert resource["selectors"] == {
        "vendors": ["15b3"],
        "devices": ["1021"],
        "linkTypes": ["infiniband"],
        "isRdma": True,
    }
    [offer] = offerings(region).rdma
    assert offer.resource == f"{resource['resourcePrefix']}/{resource['resourceName']}"
    assert (offer.networks, offer.ports, offer.functions, offer.exclusive) == (None, 8, None, False)


def test_shared_ports_are_offered_all_to_as_many_pods_as_a_node_runs(laptop: Environment) -> None:
    region = on_infiniband(laptop, RdmaSpec(ports=PortUse.SHARED))
    [network] = in_cluster(region)
    *_, policy = network.render()

    plugin = policy.body["spec"]["rdmaSharedDevicePlugin"]
    assert "{repository}/{image}@{version}".format(**plugin) == str(region.versions.tool("k8s-rdma-shared-dev-plugin"))
    assert json.loads(plugin["config"]) == {
        "configList": [
            {
                "resourceName": "infiniband_shared",
                "resourcePrefix": "nvidia.com",
                "rdmaHcaMax": 110,
                "selectors": {"vendors": ["15b3"], "deviceIDs": ["1021"], "linkTypes": ["infiniband"]},
            }
        ]
    }
    assert "sriovDevicePlugin" not in policy.body["spec"]
    [offer] = offerings(region).rdma
    assert (offer.resource, offer.use, offer.ports) == ("nvidia.com/infiniband_shared", PortUse.SHARED, 8)
    assert (offer.networks, offer.functions, offer.exclusive) == (None, None, False)


def test_functions_and_whole_ports_go_together_in_a_cluster(laptop: Environment) -> None:
    [network] = in_cluster(on_infiniband(laptop, RdmaSpec(ports=PortUse.WHOLE)))
    assert network.partition is not None
    [whole] = network.partition.instance_types
    functions = whole.model_copy(update={"name": "h200-ib-8", "rdma": RdmaSpec(exclusive=True)})
    both = replace(network.partition, instance_types=(whole, functions))

    found = replace(network, partition=both).render()

    assert [(item.kind, item.name) for item in found[4:]] == [
        ("SriovNetworkNodePolicy", "h200-ib-8"),
        ("NicNodePolicy", "h100-ib-8"),
        ("NetworkAttachmentDefinition", "ib-north"),
        ("Deployment", "ib-kubernetes-ib-north"),
    ]
    assert json.loads(found[6].body["spec"]["config"])["rdmaIsolation"] is True


def test_multus_is_pulled_through_the_mirror_by_digest(region: Environment, rendered: tuple[Manifest, ...]) -> None:
    [policy] = [item for item in rendered if item.kind == "NicClusterPolicy"]
    tool = region.versions.tool("multus-cni")

    multus = policy.body["spec"]["secondaryNetwork"]["multus"]

    assert "{repository}/{image}@{version}".format(**multus) == str(tool)
    assert multus["version"].startswith("sha256:")
