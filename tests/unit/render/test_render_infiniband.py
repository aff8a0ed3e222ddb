"""A VPC's partition on an InfiniBand fabric, in its cluster and beside the cluster's API."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from components.plan.allocate.allocation import allocate
from components.plan.build.charts import needed_charts
from components.plan.build.inputs import inputs
from components.plan.build.slices import slices
from components.render.manifest import Manifest
from components.render.tenant_network import TenantNetworkInput
from components.specs.environment import Environment
from components.specs.fabric import FabricSpec

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
OURS = {"app.kubernetes.io/managed-by": "jacquard"}
MINE = {**OURS, "jacquard.dev/tenant": "acme"}


@pytest.fixture(scope="module")
def region(laptop: Environment) -> Environment:
    """Return laptop with a fabric on which acme's VPC has a partition."""

    def on_fabric(environment: Environment, tenant: str) -> Environment:
        tenants = [
            entry.model_copy(
                update={"vpcs": tuple(vpc.model_copy(update={"fabrics": (FABRIC.name,)}) for vpc in entry.vpcs)}
            )
            if entry.tenant == tenant
            else entry
            for entry in environment.tenants
        ]
        return environment.model_copy(update={"tenants": tuple(tenants)})

    spec = laptop.region.model_copy(update={"fabrics": (FABRIC,)})
    environment = on_fabric(laptop.model_copy(update={"region": spec}), "acme")
    return environment.model_copy(update={"allocations": allocate(environment)[0]})


def in_cluster(environment: Environment) -> list[TenantNetworkInput]:
    every = (item for part in slices(environment) for item in inputs(environment, part))
    return [item for item in every if isinstance(item, TenantNetworkInput) and item.cluster is not None]


@pytest.fixture(scope="module")
def rendered(region: Environment) -> tuple[Manifest, ...]:
    [network] = in_cluster(region)
    return network.render()


@pytest.fixture(scope="module")
def one(rendered: tuple[Manifest, ...]) -> Callable[[str], Manifest]:
    """Return a function that gives the only object of a kind."""

    def only(kind: str) -> Manifest:
        [item] = [item for item in rendered if item.kind == kind]
        return item

    return only


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
        "sriovNetworkOperator": {"enabled": True},
        "sriov-network-operator": {"sriovOperatorConfig": {"deploy": False}},
    }


def test_the_operator_neither_installs_drivers_nor_drains_nodes(
    region: Environment, one: Callable[[str], Manifest]
) -> None:
    release = region.versions.chart("network-operator").version

    assert one("NicClusterPolicy").body["spec"] == {
        "secondaryNetwork": {
            "multus": {
                "image": "multus-cni",
                "repository": "nvcr.io/nvidia/mellanox",
                "version": f"network-operator-v{release}",
            }
        }
    }
    assert one("SriovOperatorConfig").body["spec"] == {
        "configDaemonNodeSelector": {"kubernetes.io/os": "linux"},
        "disableDrain": True,
        "enableInjector": False,
        "enableOperatorWebhook": False,
    }


def test_virtual_functions_are_handed_out_and_made_by_nobody_here(one: Callable[[str], Manifest]) -> None:
    assert one("SriovNetworkNodePolicy").body == {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": "h100-ib-8", "namespace": "network-operator", "labels": OURS},
        "spec": {
            "nodeSelector": {"node-restriction.kubernetes.io/instance-type": "h100-ib-8"},
            "nicSelector": {"vendor": "15b3", "deviceID": "1021"},
            "deviceType": "netdevice",
            "linkType": "ib",
            "isRdma": True,
            "externallyManaged": True,
            "numVfs": 16,
            "resourceName": "infiniband",
        },
    }


def test_a_network_attachment_names_the_vpcs_partition(one: Callable[[str], Manifest]) -> None:
    attachment = one("NetworkAttachmentDefinition").body

    assert json.loads(attachment["spec"]["config"]) == {
        "cniVersion": "0.3.1",
        "name": "ib-north",
        "type": "ib-sriov",
        "pkey": "0x10",
        "link_state": "enable",
        "ibKubernetesEnabled": True,
        "ipam": {},
    }
    assert attachment["metadata"] == {
        "name": "ib-north",
        "namespace": "default",
        "labels": MINE,
        "annotations": {"k8s.v1.cni.cncf.io/resourceName": "nvidia.com/infiniband"},
    }


def test_who_tells_the_fabric_manager_runs_out_of_the_tenants_reach(
    region: Environment, one: Callable[[str], Manifest]
) -> None:
    labels = {"jacquard.dev/tenant": "acme", "jacquard.dev/cluster": "acme-train", "jacquard.dev/fabric": "ib-north"}
    nodes = region.allocations.clusters["acme-train"].guids["ib-north"]

    daemon = one("Deployment")

    assert (daemon.cluster, f"{nodes}") == ("management", "0x0200000000000000-0x02000000000007ff")
    assert daemon.body == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "ib-kubernetes-ib-north", "namespace": "acme-train", "labels": {**OURS, **labels}},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [
                        {
                            "name": "ib-kubernetes",
                            "image": str(region.versions.tool("ib-kubernetes")),
                            "command": ["/ib-kubernetes"],
                            "env": [
                                {"name": "KUBECONFIG", "value": "/kubeconfig/value"},
                                {"name": "POD_NAMESPACE", "value": "kube-system"},
                                {"name": "DAEMON_SM_PLUGIN", "value": "ufm"},
                                {"name": "GUID_POOL_RANGE_START", "value": "02:00:00:00:00:00:00:00"},
                                {"name": "GUID_POOL_RANGE_END", "value": "02:00:00:00:00:00:07:ff"},
                                {"name": "K8S_NODE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                                {"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}},
                            ],
                            "envFrom": [{"secretRef": {"name": "ufm-north"}}],
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "capabilities": {"drop": ["ALL"]},
                            },
                            "volumeMounts": [{"name": "kubeconfig", "mountPath": "/kubeconfig", "readOnly": True}],
                        }
                    ],
                    "volumes": [{"name": "kubeconfig", "secret": {"secretName": "acme-train-kubeconfig"}}],
                },
            },
        },
    }


def test_no_object_of_the_tenants_cluster_knows_the_fabric_manager(rendered: tuple[Manifest, ...]) -> None:
    inside = [item.body for item in rendered if item.cluster != "management" or item.kind != "Deployment"]

    assert "ufm" not in json.dumps(inside)


def test_a_vpc_in_its_clusters_has_its_partition_beside_it(region: Environment) -> None:
    [network] = in_cluster(region)
    kube_ovn = replace(
        network, vpc=replace(network.vpc, spec=network.vpc.spec.model_copy(update={"isolation": "kube-ovn"}))
    )

    kinds = [item.kind for item in kube_ovn.render()]

    assert kinds[:3] == ["HelmRelease", "Vpc", "Subnet"]
    assert kinds[3:] == [item.kind for item in network.render()]
