"""Hosts as objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.render.inventory import InventoryInput, render_inventory
from components.specs.environment import Environment


def test_a_rack_is_one_set_and_a_host_three_objects(inputs_of: Any, laptop: Environment) -> None:
    [inventory] = inputs_of(InventoryInput)

    racks = render_inventory(inventory)

    assert [rack.name for rack in racks] == [f"rack-{name}" for name in sorted({host.rack for host in laptop.hosts})]
    assert sum(len(rack.members) for rack in racks) == 3 * len(laptop.hosts)
    assert {rack.namespace for rack in racks} == {"inventory"}


def test_a_host_lives_where_its_cluster_can_see_it(inputs_of: Any, objects_of: Any, laptop: Environment) -> None:
    [inventory] = inputs_of(InventoryInput)
    owners = laptop.allocations.hosts

    for item in objects_of(inventory):
        if item.kind == "BareMetalHost":
            cluster, _, pool = owners.get(item.name, "inventory/").partition("/")
            assert item.namespace == cluster
            assert item.body["metadata"]["labels"].get("jacquard.dev/pool", "") == pool


def test_a_host_entry_holds_identity_only(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    hosts = [item.body["spec"] for item in objects_of(inventory) if item.kind == "BareMetalHost"]

    common = [{key: value for key, value in spec.items() if key not in {"bmc", "bootMACAddress"}} for spec in hosts]

    assert common == [{"online": True, "bootMode": "UEFI", "automatedCleaningMode": "metadata"}] * len(hosts)


def test_the_dpu_of_a_free_host_belongs_to_no_vpc(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = next(placed for placed in inventory.hosts if placed.assignment is not None)

    def vpc(assignment: Any) -> str | None:
        one = replace(inventory, hosts=(replace(placed, assignment=assignment),))
        [node] = [item for item in objects_of(one) if item.kind == "DPUNode"]
        label: str | None = node.body["metadata"]["labels"].get("jacquard.dev/vpc")
        return label

    assert vpc(placed.assignment) == placed.assignment.vpc
    assert vpc(None) is None


def test_a_dpu_node_names_its_device_within_dpf_limits(inputs_of: Any, objects_of: Any) -> None:
    [inventory] = inputs_of(InventoryInput)
    placed = inventory.hosts[0]
    long = replace(placed, host=placed.host.model_copy(update={"host": "h" * 63}))

    _, device, node = objects_of(replace(inventory, hosts=(long,)))

    assert len(node.name) == 48
    assert len(device.name) <= 63
    assert node.body["spec"]["dpus"] == [{"name": device.name}]
