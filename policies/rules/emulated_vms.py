"""emulated-vms: VMs of a cluster may run without hardware virtualisation.

Why: QEMU then does in software what a CPU does, many times slower, and nothing tells whoever logs in: a node whose
firmware has virtualisation off looks like any other.

Told: a KubeVirt object with `useEmulation`, which `vm_emulation: true` of a region writes.
Refused: nothing, unless `policy.yaml` makes it mandatory; regions for tests may have no other hosts.
Right: hosts with virtualisation in their firmware, and no `vm_emulation`; a VM starts on no other then.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation


def find(fact: Fact, _: Context) -> Finding:
    """Tell whether KubeVirt falls back to software."""
    found = fact.at("spec", "configuration", "developerConfiguration", "useEmulation")
    if found is UNKNOWN:
        return undecided("whether VMs are emulated")
    if not found:
        return PASS
    return violation(
        found="VMs run in software on nodes without virtualisation (useEmulation)",
        allowed="VMs run by the virtualisation of the hardware alone",
        fix="turn virtualisation on in the firmware of the hosts, and remove vm_emulation from region.yaml",
    )


RULE = Rule(
    name=RuleId.EMULATED_VMS,
    description="VMs run by the virtualisation of the hardware.",
    why="software does what a CPU does many times slower, and nothing in a VM says so",
    severity=Severity.HIGH,
    kinds=frozenset({"KubeVirt"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
