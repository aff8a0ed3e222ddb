"""Hosts, nodes and clusters by IronCore metal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.inventory import InventoryInput
from components.render.node_pool import NodePoolInput
from components.specs.region import ControlPlaneBackend
from components.specs.tenant_network import Isolation


def test_a_host_is_its_bmc_in_the_set_of_its_rack(inputs_with: Any) -> None:
    [inventory] = inputs_with(InventoryInput)

    rack, *_ = inventory.render()

    assert (rack.name, rack.namespace) == ("rack-a01", "inventory")
    assert list(rack.members) == [f"{placed.host.host}/BMC" for placed in inventory.hosts if placed.host.rack == "a01"]
    assert rack.members["a01-u01/BMC"].body == {
        "apiVersion": "metal.ironcore.dev/v1alpha1",
        "kind": "BMC",
        "metadata": {
            "name": "a01-u01",
            "labels": {
                "app.kubernetes.io/managed-by": "jacquard",
                "jacquard.dev/instance-type": "h100-ib-8",
                "jacquard.dev/hall": "a",
                "jacquard.dev/rack": "a01",
                "jacquard.dev/leaf": "leaf-a1",
                "jacquard.dev/failure-domain": "a01",
                "jacquard.dev/state": "production",
                "jacquard.dev/cluster": "acme-train",
                "jacquard.dev/pool": "train",
            },
        },
        "spec": {
            "access": {"ip": "10.1.1.1"},
            "bmcSecretRef": {"name": "bmc-a01"},
            "protocol": {"name": "Redfish", "scheme": "https", "port": 443},
        },
    }


@pytest.mark.parametrize("change", [{"owner": None}, {"state": "rma"}], ids=["free", "out of service"])
def test_a_host_that_no_pool_may_claim_takes_the_owners_labels_back_by_saying_none(
    inputs_with: Any, objects_of: Any, change: dict[str, Any]
) -> None:
    [inventory] = inputs_with(InventoryInput)
    freed = replace(inventory, hosts=(replace(inventory.hosts[0], **change),))

    [bmc] = objects_of(freed)

    labels = bmc.body["metadata"]["labels"]
    assert (labels["jacquard.dev/cluster"], labels["jacquard.dev/pool"]) == ("", "")


@pytest.mark.parametrize(
    ("bmc", "access"),
    [
        ("redfish://10.1.9.9/redfish/v1/Systems/1", ("10.1.9.9", "https", 443)),
        ("redfish-virtualmedia+http://10.1.9.9/redfish/v1/Systems/1", ("10.1.9.9", "http", 80)),
        ("idrac-virtualmedia+https://10.1.9.9:8443/redfish/v1/Systems/1", ("10.1.9.9", "https", 8443)),
    ],
)
def test_the_address_of_a_bmc_is_read_from_metal3s_form(
    inputs_with: Any, objects_of: Any, bmc: str, access: tuple[str, str, int]
) -> None:
    [inventory] = inputs_with(InventoryInput)
    placed = inventory.hosts[0]
    one = replace(placed, host=placed.host.model_copy(update={"bmc": bmc}))

    [item] = objects_of(replace(inventory, hosts=(one,)))

    spec = item.body["spec"]
    assert (spec["access"]["ip"], spec["protocol"]["scheme"], spec["protocol"]["port"]) == access


def test_dpus_are_there_when_a_vpc_is_isolated_on_them(inputs_with: Any, objects_of: Any) -> None:
    def kinds(isolation: Isolation) -> set[str]:
        [inventory] = inputs_with(InventoryInput, isolation=isolation)
        return {item.kind for item in objects_of(inventory)}

    assert kinds(Isolation.KUBE_OVN) == kinds(Isolation.POLICY_ONLY) == {"BMC"}
    assert kinds(Isolation.DPF_HBN) == {"BMC", "DPUDevice", "DPUNode"}


def test_a_cluster_says_where_its_control_plane_is(inputs_with: Any) -> None:
    *_, infrastructure, _, _ = inputs_with(HostedControlPlaneInput)[0].render()

    assert infrastructure.body == {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
        "kind": "IroncoreMetalCluster",
        "metadata": {
            "name": "acme-train",
            "namespace": "acme-train",
            "labels": {
                "app.kubernetes.io/managed-by": "jacquard",
                "jacquard.dev/tenant": "acme",
                "jacquard.dev/cluster": "acme-train",
            },
        },
        "spec": {"controlPlaneEndpoint": {"host": "10.3.0.1", "port": 6443}},
    }


def pool_with_taints(inputs_with: Any, **backends: Any) -> NodePoolInput:
    return next(item for item in inputs_with(NodePoolInput, **backends) if item.spec.taints)


def test_a_machine_is_an_image_by_digest_on_a_server_of_its_pool(inputs_with: Any) -> None:
    pool = pool_with_taints(inputs_with)
    group = pool.groups[0]

    machine = next(item for item in pool.render() if item.kind == "IroncoreMetalMachineTemplate")

    assert machine.body["spec"] == {
        "template": {
            "spec": {
                "image": f"{group.intent.url.removeprefix('https://')}@sha256:{group.intent.sha256}",
                "serverSelector": {
                    "matchLabels": {
                        "jacquard.dev/cluster": pool.cluster,
                        "jacquard.dev/failure-domain": group.failure_domain,
                        "jacquard.dev/pool": pool.spec.name,
                    }
                },
            }
        }
    }
    assert machine.retain


def test_a_pool_selects_servers_by_labels_that_its_hosts_have(inputs_with: Any, objects_of: Any) -> None:
    [inventory] = inputs_with(InventoryInput)
    labels = [item.body["metadata"]["labels"] for item in objects_of(inventory)]

    for pool in inputs_with(NodePoolInput):
        machines = [item for item in pool.render() if item.kind == "IroncoreMetalMachineTemplate"]
        for machine, group in zip(machines, pool.groups, strict=True):
            wanted = machine.body["spec"]["template"]["spec"]["serverSelector"]["matchLabels"]
            assert sum(wanted.items() <= has.items() for has in labels) >= group.size.nodes


def test_a_kubeadm_node_joins_by_ignition_under_its_machines_name(inputs_with: Any) -> None:
    pool = pool_with_taints(inputs_with, control_planes=ControlPlaneBackend.KAMAJI)

    bootstrap = next(item for item in pool.render() if item.kind == "KubeadmConfigTemplate")

    assert bootstrap.body["spec"] == {
        "template": {
            "spec": {
                "format": "ignition",
                "preKubeadmCommands": ["hostnamectl set-hostname $${METAL_HOSTNAME}"],
                "joinConfiguration": {
                    "nodeRegistration": {
                        "name": "$${METAL_HOSTNAME}",
                        "kubeletExtraArgs": [
                            {
                                "name": "node-labels",
                                "value": f"node.jacquard.dev/image={pool.groups[0].intent.image}",
                            },
                            {"name": "provider-id", "value": "metal://acme-train/$${METAL_HOSTNAME}"},
                        ],
                        "taints": [{"key": "workload", "value": "training", "effect": "NoSchedule"}],
                    }
                },
            }
        }
    }


def test_what_rolls_and_what_repairs_is_the_same_but_for_the_reboot(inputs_of: Any, inputs_with: Any) -> None:
    def shared(pool: NodePoolInput) -> list[Any]:
        found = []
        for item in pool.render():
            if item.kind in {"MachineDeployment", "MachineHealthCheck", "MachineDrainRule"}:
                spec = {**item.body["spec"]}
                spec["remediation"] = {
                    key: value for key, value in spec.get("remediation", {}).items() if key != "templateRef"
                }
                if item.kind == "MachineDeployment":
                    machine = {**spec["template"]["spec"], "bootstrap": None, "infrastructureRef": None}
                    spec["template"] = {**spec["template"], "spec": machine}
                found.append((item.kind, item.name, spec))
        return found

    for first, second in zip(inputs_of(NodePoolInput), inputs_with(NodePoolInput), strict=True):
        assert shared(first) == shared(second)
        assert "Metal3RemediationTemplate" not in {item.kind for item in second.render()}
