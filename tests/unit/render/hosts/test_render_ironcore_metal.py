"""Hosts, nodes and clusters with IronCore metal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.render.hosts.inventory import InventoryInput
from components.render.manifest import objects
from components.render.pools.ironcore_metal import operators
from components.render.pools.node_pool import NodePoolInput
from components.render.region.region import RegionInput
from components.specs.hosts.bare_metal import BmcCertificatesSpec
from components.specs.network.tenant_network import Isolation
from components.specs.struct import replace
from tests.support.data.second_backends import NETBOOT


@pytest.mark.parametrize("change", [{"owner": None}, {"state": "rma"}], ids=["free", "out of service"])
def test_an_unclaimable_host_removes_owner_labels_by_empty_values(
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


def test_dpus_are_rendered_if_a_vpc_is_isolated_on_them(inputs_with: Any, objects_of: Any) -> None:
    def kinds(isolation: Isolation) -> set[str]:
        [inventory] = inputs_with(InventoryInput, isolation=isolation)
        return {item.kind for item in objects_of(inventory)}

    assert kinds(Isolation.KUBE_OVN) == kinds(Isolation.POLICY_ONLY) == {"BMC"}
    assert kinds(Isolation.DPF_HBN) == {"BMC", "DPUDevice", "DPUNode"}


def test_a_pool_selects_servers_by_labels_that_its_hosts_have(inputs_with: Any, objects_of: Any) -> None:
    [inventory] = inputs_with(InventoryInput)
    labels = [item.body["metadata"]["labels"] for item in objects_of(inventory)]

    for pool in inputs_with(NodePoolInput):
        machines = [item for item in objects(pool.render()) if item.kind == "IroncoreMetalMachineTemplate"]
        for machine, group in zip(machines, pool.groups, strict=True):
            wanted = machine.body["spec"]["template"]["spec"]["serverSelector"]["matchLabels"]
            assert sum(wanted.items() <= has.items() for has in labels) >= group.size.nodes


def test_operators_get_the_flags_without_which_they_exit_refuse_images_or_never_discover(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput)
    [installed] = [item for item in region.render() if item.kind == "Kustomization" and item.name == "ironcore-metal"]
    patches = {
        item["target"]["labelSelector"].removeprefix("app.kubernetes.io/name="): json.loads(item["patch"])
        for item in installed.body["spec"]["patches"]
        if "labelSelector" in item["target"]
    }
    flags = {
        name: [one["value"] for one in operations if one["path"].endswith("/args/-")]
        for name, operations in patches.items()
    }
    sized = {name: operations.pop(0) for name, operations in patches.items()}
    mounted = [one["value"] for one in patches["metal-operator"] if "/args/" not in one["path"]]

    assert flags == {
        "metal-operator": [
            "--manager-namespace=ironcore-metal-system",
            f"--probe-image={NETBOOT.probe_image}",
            f"--probe-os-image={NETBOOT.probe_os_image}",
            "--registry-url=http://10.0.0.31:10000",
            "--protocol=https",
            "--skip-cert-validation=false",
            "--enforce-first-boot",
            "--enforce-power-off",
            "--server-max-concurrent-reconciles=64",
        ],
        "boot-operator": [
            "--controllers=serverbootconfighttp,httpbootconfig",
            "--image-server-url=http://10.0.0.30:8083/httpboot",
            "--allowed-registries=images.cloud.example",
        ],
    }
    assert all(one["path"] == "/spec/template/spec/containers/0/resources" for one in sized.values())
    assert {name: one["value"]["limits"] for name, one in sized.items()} == {key: {"memory": "2048Mi"} for key in flags}
    assert mounted == [
        {"name": "SSL_CERT_DIR", "value": "/etc/bmc-authority"},
        {"name": "bmc-authority", "mountPath": "/etc/bmc-authority", "readOnly": True},
        {"name": "bmc-authority", "secret": {"secretName": "bmc-ca"}},
    ]


def test_hosts_reach_each_operator_at_a_separate_address(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput)
    services = {
        item.name: (
            item.body["metadata"]["annotations"]["metallb.io/loadBalancerIPs"],
            [port["port"] for port in item.body["spec"]["ports"]],
        )
        for item in region.render()
        if item.kind == "Service" and item.namespace == "ironcore-metal-system"
    }

    assert services == {
        "boot-operator-hosts": ("10.0.0.30", [8082, 8083]),
        "metal-operator-hosts": ("10.0.0.31", [10000]),
    }


def test_without_an_authority_no_certificate_is_verified(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput)
    metal = region.spec.bare_metal.model_copy(update={"bmc_certificates": BmcCertificatesSpec()})
    [operator] = operators(metal)
    patched = json.dumps(operator.json_patches["metal-operator"])

    assert "--skip-cert-validation=true" in patched
    assert "bmc-authority" not in patched
