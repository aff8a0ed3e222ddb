"""left-out-add-on: a cluster without a default add-on.

Why: jobs that run in every other cluster wait or fail in this cluster, and authors of jobs do not read platform data.

Reported: a name in `without_add_ons` of a cluster that no other add-on of the cluster replaces, with its reason and
consequence.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; `jacquard check` itself requires a pod network.
Correct: `add_ons: default` without exceptions, or an add-on that provides the same capability.
"""

from components.specs.region.policy import RuleId
from policies.verdict import cluster_advisory, violation

RULE = cluster_advisory(
    RuleId.LEFT_OUT_ADD_ON,
    description="A cluster has all default add-ons.",
    why="jobs that run in every other cluster wait or fail in this cluster",
    entries=lambda context: context.left_out,
    report=lambda omitted: violation(
        found="; ".join(omitted),
        allowed="all default add-ons, or add-ons that provide the same capabilities",
        fix="remove them from without_add_ons, or inform the tenant and add a waiver for this cluster",
    ),
)
