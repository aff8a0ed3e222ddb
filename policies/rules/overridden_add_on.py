"""overridden-add-on: a cluster whose add-on has values that no other cluster's has.

Why: what is seen in one cluster is true of no other, and a release that did well everywhere else was never tried with
these values.

Told: each value in `add_on_values` of a cluster, with its reason.
Refused: nothing, unless `policy.yaml` makes it mandatory; what a value may be is asked by `jacquard check` itself.
Right: the value in `add_on_values` of `region.yaml`, for all clusters; a cluster's own for a trial or an exception.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, violation


def find(fact: Fact, context: Context) -> Finding:
    """Tell what the cluster that the release is of has for itself."""
    told = context.own_values.get((str(fact.at("metadata", "namespace")), str(fact.at("metadata", "name"))))
    if not told:
        return PASS
    return violation(
        found=told,
        allowed=f"what add_on_values of environments/{context.environment}/region.yaml and the library say",
        fix="move it to add_on_values of region.yaml or remove it, or waive it for this cluster",
    )


RULE = Rule(
    name=RuleId.OVERRIDDEN_ADD_ON,
    description="An add-on has the same values in each cluster of a region.",
    why="what holds in all other clusters, and was tried there, does not hold in this one",
    severity=Severity.HIGH,
    kinds=frozenset({"HelmRelease"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
