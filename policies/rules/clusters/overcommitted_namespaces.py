"""overcommitted-namespaces: namespace quotas whose sum exceeds the tenant's quota.

Why: Kubernetes enforces the quota of each namespace separately, and each team expects to be able to use its whole
quota. The first teams that do so exhaust the tenant's quota, and no message in the cluster mentions the tenant's quota.

Reported: load balancers and storage classes for which the namespace quotas in all clusters of a tenant exceed its
quota.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; teams that never need their whole quotas
simultaneously may share intentionally.
Correct: namespace quotas whose sum is at most the tenant's quota, or a higher quota of the tenant.
"""

from components.specs.region.policy import RuleId
from policies.verdict import cluster_advisory, violation

RULE = cluster_advisory(
    RuleId.OVERCOMMITTED_NAMESPACES,
    description="Namespace quotas of a tenant do not exceed the tenant's quota in total.",
    why="each team expects to be able to use its whole quota",
    entries=lambda context: context.overcommitted,
    report=lambda excess: violation(
        found=f"namespaces may use {'; '.join(excess)}",
        allowed="namespace quotas whose sum is at most the tenant's quota",
        fix="lower the namespace quotas, raise the tenant's quota, or add a waiver for this cluster",
    ),
)
