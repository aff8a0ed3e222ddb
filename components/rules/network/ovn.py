"""What runs for OVN outlasts the last VPC on it: nothing else takes a VPC out of OVN's databases."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.dpus import uses_ovn
from components.lookups.pools import place, problem
from components.render.backends import BORDERS
from components.specs.environment import Environment
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, dotted, listed

_MAX_VPCS_SHOWN = 3


def services_last(environment: Environment) -> Iterator[Problem]:
    """Report that OVN's services would go in one edit with VPCs that they alone take away.

    The lock file still knows these VPCs. DPF's controller lets go of a VPC whose class it finds, and takes it out of
    databases that answer (NVIDIA/doca-platform:internal/vpc/ovn/controllers/dpuvpc_controller.go); of slices the
    region's is applied first.
    """
    region, lock = environment.region, environment.allocations
    left = [name for name, vpc in lock.vpcs.items() if vpc.isolation is not None and BORDERS[vpc.isolation].ovn]
    if not left or uses_ovn(environment):
        return
    needed = {("dpus", "ovn_central"): region.dpus.ovn_central, ("networks", "ovn"): region.networks.ovn}
    missing = [path for path, value in needed.items() if value is None]
    vpcs = listed((f"{name} ({place(environment, ALLOCATIONS, ('vpcs', name))})" for name in left), _MAX_VPCS_SHOWN)
    for path in missing[:1]:
        what = f"with {dotted(missing[1])}, and remove both" if missing[1:] else "and remove it"
        text = (
            f"goes in one edit with what was on OVN, VPC {vpcs}, and DPF would keep that for ever; write it back,"
            f" {what} by a later one, once that is gone"
        )
        yield problem(environment, REGION, path, text)
