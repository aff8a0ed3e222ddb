"""Hosts, nodes and clusters by IronCore metal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.render.hosts.inventory import InventoryInput
from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput
from components.specs.network.tenant_network import Isolation


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


def test_a_pool_selects_servers_by_labels_that_its_hosts_have(inputs_with: Any, objects_of: Any) -> None:
    [inventory] = inputs_with(InventoryInput)
    labels = [item.body["metadata"]["labels"] for item in objects_of(inventory)]

    for pool in inputs_with(NodePoolInput):
        machines = [item for item in objects(pool.render()) if item.kind == "IroncoreMetalMachineTemplate"]
        for machine, group in zip(machines, pool.groups, strict=True):
            wanted = machine.body["spec"]["template"]["spec"]["serverSelector"]["matchLabels"]
            assert sum(wanted.items() <= has.items() for has in labels) >= group.size.nodes
