"""overcommitted-namespaces: quotas of namespaces that come to more than the quota of their tenant.

Why: Kubernetes holds each namespace to its own quota. Who is given one believes that it can be used up, and the first
to take theirs leave the others without, at a limit of the tenant's that no message in the cluster names.

Told: load balancers, and each storage class, of which namespaces of all clusters of a tenant may take more together.
Refused: nothing, unless `policy.yaml` makes it mandatory; teams that never need all at once may be meant to share.
Right: quotas of namespaces whose sum is that of the tenant at most, or a higher quota of the tenant.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, violation


def find(fact: Fact, context: Context) -> Finding:
    """Tell of what the namespaces of the cluster's tenant may take too much."""
    told = fact.of_cluster(context.overcommitted)
    if not told:
        return PASS
    return violation(
        found=f"namespaces may take {'; '.join(told)}",
        allowed="quotas of namespaces that come to the quota of their tenant at most",
        fix="lower quotas of namespaces, or raise that of the tenant, or waive it for this cluster",
    )


RULE = Rule(
    name=RuleId.OVERCOMMITTED_NAMESPACES,
    description="Namespaces of a tenant may take no more together than its quota.",
    why="who is given a quota believes that it can be used up",
    severity=Severity.HIGH,
    kinds=frozenset({"Cluster"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
