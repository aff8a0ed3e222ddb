"""Rule about OVN services: only they delete VPCs from the databases, so remove them after the last VPC on OVN."""

from collections.abc import Iterator

from components.lookups.network.dpus import uses_ovn
from components.lookups.pools import place, problem
from components.render.backends import NETWORK_BACKENDS
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, dotted, listed

_MAX_VPCS_SHOWN = 3


def services_last(environment: Environment) -> Iterator[Problem]:
    """Report OVN services removed in one edit with VPCs on OVN, because only the services can delete these VPCs.

    The lock file still has these VPCs. DPF's controller deletes a VPC only if the class of the VPC exists, and removes
    the VPC from the databases only if they respond
    (NVIDIA/doca-platform:internal/vpc/ovn/controllers/dpuvpc_controller.go). The slice of the region, which removes the
    services, is applied first.
    """
    region, lock = environment.region, environment.allocations
    remaining = [name for name, vpc in lock.vpcs.items() if NETWORK_BACKENDS[vpc.isolation].ovn]
    if not remaining or uses_ovn(environment):
        return
    needed = {("dpus", "ovn_central"): region.dpus.ovn_central, ("networks", "ovn"): region.networks.ovn}
    missing = [path for path, value in needed.items() if value is None]
    vpcs = listed(
        (f"{name} ({place(environment, ALLOCATIONS, ('vpcs', name))})" for name in remaining), _MAX_VPCS_SHOWN
    )
    for path in missing[:1]:
        what = f"with {dotted(missing[1])}, and remove both" if missing[1:] else "and remove it"
        text = (
            f"is removed in one edit with the VPCs on OVN, {vpcs}, which DPF could then never delete; restore it,"
            f" {what} in a later edit, after these VPCs are deleted"
        )
        yield problem(environment, REGION, path, text)


RULES = Rules(data=(services_last,))
