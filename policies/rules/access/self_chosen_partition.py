"""self-chosen-partition: an InfiniBand partition that an object in the tenant's cluster selects.

Why: ib-kubernetes adds a pod's port to any partition that a NetworkAttachmentDefinition names, and a tenant with all
rights in a cluster can create these objects. ib-kubernetes only assigns GUIDs from the cluster's range, so you can
identify a function in another tenant's partition by its GUID and remove it. `jacquard show ENV network --partitions`
lists the GUIDs of each partition. Nothing prevents the change, and until the removal the function can communicate in
the partition.

Reported: a NetworkAttachmentDefinition with a `pkey` that ib-kubernetes obeys.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; Jacquard cannot know the members in UFM.
Correct: whole or shared ports (`rdma.ports`), which no object of the cluster can add to a partition. Otherwise, remove
unlisted members from partitions, and add a waiver for the object with the responsible team as owner.
"""

import json

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, advisory, undecided, violation

KIND = "NetworkAttachmentDefinition"


def find(fact: Fact, _context: Context) -> Finding:
    """Check for a partition in the plug-in configuration of the attachment."""
    config = fact.at("spec", "config")
    if config is UNKNOWN:
        return undecided("the configuration of the attachment")
    network = json.loads(config) if config else {}
    if not any(plugin.get("pkey") for plugin in network.get("plugins", [network])):
        return PASS
    return violation(
        found="a partition that any author of network attachments in the cluster can change",
        allowed="whole or shared ports, or partition members exactly as in jacquard show ENV network --partitions",
        fix="remove unlisted members from partitions at UFM, then add a waiver for this object",
    )


RULE = advisory(
    RuleId.SELF_CHOSEN_PARTITION,
    description="A tenant cannot choose the InfiniBand partition of its ports.",
    why="ib-kubernetes uses the partition of the attachment, so a tenant can reach ports in another tenant's partition",
    kinds={KIND},
    find=find,
)
