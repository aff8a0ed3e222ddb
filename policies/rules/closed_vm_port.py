"""closed-vm-port: a port that a VM lists at its public address, and that its VPC's security group keeps closed.

Why: `ports` of a VM is what its address has, and opens nothing at the edge of the VPC; who reads the VM alone believes
that the port is reached.

Told: each port of a VM with a public address that no rule of the group lets anybody in by, with the rule to add.
Refused: nothing, unless `policy.yaml` makes it mandatory; to close all of an address for a time may be meant.
Right: a rule of `ingress` with the port, from 0.0.0.0/0 or from less; or a VM that does not list it.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, violation


def find(fact: Fact, context: Context) -> Finding:
    """Tell which ports of VMs of the cluster are closed."""
    closed = fact.of_cluster(context.closed_ports)
    if not closed:
        return PASS
    return violation(
        found="; ".join(told for told, _ in closed),
        allowed="ports that the security group of the VPC lets somebody in by",
        fix=f"add {'; '.join(rule for _, rule in closed)}; or take the ports from the VMs",
    )


RULE = Rule(
    name=RuleId.CLOSED_VM_PORT,
    description="A port that a VM lists at its public address is open at the edge of its VPC.",
    why="who reads the VM alone believes that the port is reached",
    severity=Severity.HIGH,
    kinds=frozenset({"Cluster"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
