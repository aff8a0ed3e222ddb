"""self-chosen-partition: an InfiniBand partition that an object of the tenant's own cluster chooses.

Why: ib-kubernetes enters a pod's port in the partition that a NetworkAttachmentDefinition names, whichever that is, and
a tenant with all rights in a cluster writes these. It gives GUIDs of the cluster's own range alone, so a function in
another's partition can be told by its GUID and taken out again: `jacquard show ENV network --partitions` says which
GUIDs each partition has. Nothing prevents it, and until then the function is heard there.

Told: a NetworkAttachmentDefinition with a `pkey` that ib-kubernetes obeys.
Refused: nothing, unless `policy.yaml` makes it mandatory; only people know who applies that list to UFM.
Right: whole or shared ports (`rdma.ports`), which no object of the cluster puts into a partition; or somebody who takes
out of partitions what is not on the list, and a waiver for the object that says who.
"""

from __future__ import annotations

import json

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation

KIND = "NetworkAttachmentDefinition"


def find(fact: Fact, _context: Context) -> Finding:
    """Look for a partition in what the attachment tells its plug-ins."""
    config = fact.at("spec", "config")
    if config is UNKNOWN:
        return undecided("what the attachment says")
    network = json.loads(config) if config else {}
    if not any(plugin.get("pkey") for plugin in network.get("plugins", [network])):
        return PASS
    return violation(
        found="a partition that whoever writes network attachments in the cluster may change",
        allowed="whole or shared ports, or members that somebody keeps to jacquard show ENV network --partitions",
        fix="have what is not on that list taken out of partitions at UFM, then waive it for this object",
    )


RULE = Rule(
    name=RuleId.SELF_CHOSEN_PARTITION,
    description="A tenant cannot choose the InfiniBand partition of its ports.",
    why="ib-kubernetes obeys the attachment, so that a tenant reaches the ports of another's partition",
    severity=Severity.HIGH,
    kinds=frozenset({KIND}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
