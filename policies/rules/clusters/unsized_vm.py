"""unsized-vm: a VM without an instance type and a preference of the platform.

Why: CPUs, memory, devices and virtual hardware of such a VM are its own. No size of the catalogue describes it, so it
fits on no planned node, gets features that other VMs do not have, and has no price.

Rejected: a VirtualMachine without `spec.instancetype`, or without `spec.preference`; likewise the template of a
VirtualMachinePool.
Correct: `instancetype: {name: cpu-4}` and `preference: {name: linux}` of the offering, as `vms` of a tenant renders.
"""

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

SPECS = {"VirtualMachine": ("spec",), "VirtualMachinePool": ("spec", "virtualMachineTemplate", "spec")}
"""Path of the specification of a VM, by kind."""
_FIELDS = ("instancetype", "preference")


def find(fact: Fact, _context: Context) -> Finding:
    """Check the references of a VM to its instance type and preference."""
    spec = SPECS[str(fact.kind)]
    names = {".".join((*spec, key)): fact.at(*spec, key, "name") for key in _FIELDS}
    if UNKNOWN in names.values():
        return undecided(next(path for path, name in names.items() if name is UNKNOWN))
    missing = [path for path, name in names.items() if not name]
    if not missing:
        return PASS
    return violation(
        found=f"no {listed(missing)}",
        allowed="an instance type and a preference of the platform, from catalog/vm_offerings.yaml",
        fix="order the VM in vms of the tenant's data, or name an instance type and a preference of the cluster",
    )


RULE = Rule(
    name=RuleId.UNSIZED_VM,
    description="A VM has an instance type and a preference of the platform.",
    why="no size of the catalogue describes the VM, so it fits on no planned node",
    severity=Severity.HIGH,
    kinds=frozenset(SPECS),
    find=find,
)
