"""emulated-vms: VMs of a cluster may run without hardware virtualisation.

Why: without hardware virtualisation, QEMU emulates the CPU in software, which is many times slower. The emulation is
not visible inside the VM, and a node with virtualisation disabled in firmware looks like any other node.

Reported: a KubeVirt object with `useEmulation`, which `vm_emulation: true` of a region sets.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; test regions may have no other hosts.
Correct: hosts with virtualisation enabled in firmware, without `vm_emulation`. VMs then start only on such hosts.
"""

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, advisory, undecided, violation


def find(fact: Fact, _: Context) -> Finding:
    """Check whether KubeVirt may emulate VMs in software."""
    emulation = fact.at("spec", "configuration", "developerConfiguration", "useEmulation")
    if emulation is UNKNOWN:
        return undecided("whether VMs are emulated")
    if not emulation:
        return PASS
    return violation(
        found="VMs are emulated in software on nodes without virtualisation (useEmulation)",
        allowed="VMs that use hardware virtualisation",
        fix="enable virtualisation in the firmware of the hosts, and remove vm_emulation from region.yaml",
    )


RULE = advisory(
    RuleId.EMULATED_VMS,
    description="VMs use hardware virtualisation.",
    why="software emulation is many times slower than hardware virtualisation, and VMs do not show it",
    kinds={"KubeVirt"},
    find=find,
)
