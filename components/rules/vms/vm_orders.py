"""Orders of VMs as data: so many objects as one stack bears."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import problem, tenant_file, vms_of
from components.specs.environment import Environment
from components.specs.reading.problems import Problem
from components.specs.vms.vm_offering import VirtualMachineSpec

MOST_OBJECTS = 240
"""Most objects of VMs in one stack: it should have fewer than 300, and what VMs need comes to some 60."""


def single_machines(environment: Environment) -> Iterator[Problem]:
    """Report VMs that come to more objects than one stack bears; a fleet is one object, however many VMs it has."""
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        objects = sum(_objects(vm) for _, vm in vms_of(tenant))
        single = sum(vm.count is None for _, vm in vms_of(tenant))
        if objects > MOST_OBJECTS:
            text = (
                f"{single} VMs one by one and what is theirs come to {objects} objects of one stack, and {MOST_OBJECTS}"
                f" are the most; make VMs that are alike one entry with count: a fleet is one object"
            )
            yield problem(environment, tenant_file(tenant), ("vms", "instances"), text)


def _objects(vm: VirtualMachineSpec) -> int:
    """Return how many objects a VM or a fleet is: itself, its lasting volumes, its address."""
    return 1 + sum(not volume.scratch for volume in vm.volumes) + vm.public_ip
