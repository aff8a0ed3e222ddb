"""left-out-add-on: a cluster that goes without something that others have.

Why: jobs that run in every other cluster wait or fail in this one, and who writes them reads no data of the platform.

Told: a name in `without_add_ons` of a cluster that nothing else of it replaces, with its reason and what follows.
Refused: nothing, unless `policy.yaml` makes it mandatory; a pod network is asked for by `jacquard check` itself.
Right: `add_ons: default` as it is, or a named add-on that gives the same.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, violation


def find(fact: Fact, context: Context) -> Finding:
    """Tell what the cluster goes without."""
    told = fact.of_cluster(context.left_out)
    if not told:
        return PASS
    return violation(
        found="; ".join(told),
        allowed="all default add-ons, or others that give the same",
        fix="take them from without_add_ons, or tell the tenant and waive it for this cluster",
    )


RULE = Rule(
    name=RuleId.LEFT_OUT_ADD_ON,
    description="A cluster has what all clusters have.",
    why="jobs that run in every other cluster wait or fail in this one",
    severity=Severity.HIGH,
    kinds=frozenset({"Cluster"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
