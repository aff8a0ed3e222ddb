"""Rule about the number of VM objects in one stack."""

from collections.abc import Iterator

from components.lookups.pools import problem, tenant_file, vms_of
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.problems import Problem
from components.specs.vms.vm_offering import VirtualMachineSpec

MOST_OBJECTS = 240
"""Maximum number of VM objects in a stack. A stack should have fewer than 300 objects, of which prerequisites of VMs
use about 60."""


def single_machines(environment: Environment) -> Iterator[Problem]:
    """Report single VMs with more objects in total than a stack supports. A fleet of any size is one object."""
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        objects = sum(_objects(vm) for _, vm in vms_of(tenant))
        single = sum(vm.count is None for _, vm in vms_of(tenant))
        if objects > MOST_OBJECTS:
            text = (
                f"{single} single VMs with their volumes and addresses need {objects} objects in one stack, at most"
                f" {MOST_OBJECTS} are supported; merge similar VMs into one entry with count: a fleet is one object"
            )
            yield problem(environment, tenant_file(tenant), ("vms", "instances"), text)


def _objects(vm: VirtualMachineSpec) -> int:
    """Return the number of objects of a VM or fleet: the machine, its durable volumes, and its address."""
    return 1 + sum(not volume.scratch for volume in vm.volumes) + vm.public_ip


RULES = Rules(data=(single_machines,))
