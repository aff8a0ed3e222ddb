"""self-chosen-partition: an InfiniBand partition that an object of the tenant's own cluster chooses.

Why: ib-kubernetes enters a pod's port in the partition that a NetworkAttachmentDefinition names, whichever that is, and
a tenant with all rights in a cluster writes these. What keeps the tenant out of other partitions must then be UFM: its
partitions have the GUIDs of the tenant's host ports as members, and no port is a full member of the default partition.

Told: a NetworkAttachmentDefinition with a `pkey` that ib-kubernetes obeys.
Refused: nothing, unless `policy.yaml` makes it mandatory; only people know how UFM is fed.
Right: UFM's members by host port, and a waiver for the object that says who sees to it.
"""

from __future__ import annotations

import json

from components.specs.base import Stage
from components.specs.policy import Enforcement, RuleId
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
        allowed="a partition whose members UFM has by the GUIDs of host ports (docs/dpus-and-infiniband.md)",
        fix="have UFM keep members by host port, then waive it for this object",
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
