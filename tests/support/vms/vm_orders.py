"""Virtual machine orders through the API of a cluster: those of all data, and one for each feature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.render.manifest import Manifest
from components.render.vms.virtual_machine import Machine, virtual_machine
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_sizes import instancetype, preference
from components.specs.pools.node_pool import TaintEffect, TaintSpec
from components.specs.struct import replace
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import VirtualMachineSpec
from components.specs.vms.vm_sizes import EvictionStrategy
from tests.support.data.environment_data import REFERENCES
from tests.support.vms.vm_chart import offerings

SCRATCH = [{"name": "spool", "size": "20Gi", "storage_class": "shared-nfs", "scratch": True}]
VOLUMES = [*SCRATCH, {"name": "home", "size": "1Ti", "storage_class": "shared-vast"}]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNPZccfq2Qc8plKIZmAmY48pZ1x8O9oQs7K52SutrN7 ops@cloud.example"
ORDERS: dict[str, dict[str, Any]] = {
    "ephemeral": {},
    "kept root": {"root": {"size": "600Gi", "storage_class": "shared-nfs"}},
    "volumes": {"volumes": VOLUMES},
    "fleet": {"count": 1000, "volumes": SCRATCH},
    "fleet with kept roots": {"count": 3, "root": {"size": "600Gi", "storage_class": "shared-nfs"}},
    "users": {"users": [{"name": "ops", "sudo": True, "ssh_keys": [KEY, KEY]}, {"name": "on", "ssh_keys": [KEY]}]},
    "user data": {"user_data_secret": "first-boot", "volumes": VOLUMES},
    "address": {"public_ip": True, "ports": [22, 443], "udp_ports": [443, 51820]},
    "address without TCP": {"public_ip": True, "ports": [], "udp_ports": [53]},
    "pool": {"pool": "system"},
    "name that YAML takes for true": {"name": "on"},
    **{f"run {strategy}": {"run_strategy": strategy} for strategy in ("RerunOnFailure", "Once", "Manual", "Halted")},
}


def orders() -> Iterator[tuple[str, VmOfferingInput, Machine]]:
    """Yield API orders for the machines of all data, and one for each feature of an order.

    The chart cannot order Windows machines.
    """
    for offering in (offering for name in REFERENCES for offering in offerings(name)):
        for machine in (one for one in offering.machines if one.image.os is GuestSystem.LINUX):
            spec = machine.spec.model_copy(update={"snapshots": False})
            yield f"{offering.cluster}/{spec.name}", offering, replace(machine, spec=spec, through_api=True)
    [laptop] = offerings("laptop")
    [bastion] = laptop.machines
    yield "taints, and a size that is stopped in a drain", *stopped(laptop, bastion)
    plain = {"name": "loom", "size": bastion.spec.size, "image": bastion.spec.image}
    for what, words in ORDERS.items():
        spec = VirtualMachineSpec.model_validate({**plain, **words})
        address = bastion.public_address if spec.public_ip else None
        machine = replace(bastion, spec=spec, public_address=address, host_name=None, through_api=True)
        yield what, laptop, machine
        yield f"{what}, keys by a Secret", laptop, replace(machine, keys_secret="keys")


def stopped(offering: VmOfferingInput, machine: Machine) -> tuple[VmOfferingInput, Machine]:
    size = machine.size.model_copy(update={"eviction": EvictionStrategy.NONE})
    sizes = tuple(size if one.name == size.name else one for one in offering.sizes)
    taints = tuple(TaintSpec(key="workload", value="vms", effect=effect) for effect in TaintEffect)
    spec = machine.spec.model_copy(update={"public_ip": False})
    found = replace(machine, spec=spec, size=size, public_address=None, through_api=True)
    return replace(offering, sizes=sizes, taints=taints), found


def objects_of(offering: VmOfferingInput, machine: Machine) -> list[Manifest]:
    sized, guest = instancetype(offering.cluster, machine.size), preference(offering.cluster)
    return list(virtual_machine(offering.cluster, machine, sized.name, guest.name, offering.taints))
