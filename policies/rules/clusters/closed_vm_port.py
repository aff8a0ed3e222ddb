"""closed-vm-port: a port that a VM lists for its public address but its VPC's security group blocks.

Why: `ports` of a VM describes its public address and opens nothing at the edge of the VPC. A reader of the VM alone
would assume that the port is reachable.

Reported: each port of a VM with a public address that no ingress rule of the group allows, with the missing rule.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; closing all ports temporarily may be intended.
Correct: an `ingress` rule with the port, from 0.0.0.0/0 or a smaller range; or a VM that does not list the port.
"""

from components.specs.region.policy import RuleId
from policies.verdict import cluster_advisory, violation

RULE = cluster_advisory(
    RuleId.CLOSED_VM_PORT,
    description="A port that a VM lists for its public address is open at the edge of its VPC.",
    why="a reader of the VM alone would assume that the port is reachable",
    entries=lambda context: context.closed_ports,
    report=lambda closed: violation(
        found="; ".join(port for port, _ in closed),
        allowed="ports that an ingress rule of the VPC's security group allows",
        fix=f"add {'; '.join(rule for _, rule in closed)}; or remove the ports from the VMs",
    ),
)
