"""overridden-add-on: a cluster with different values for an add-on than the other clusters of its region.

Why: observations in this cluster do not apply to other clusters, and a chart release that works in other clusters was
never tested with these values.

Reported: each value in `add_on_values` of a cluster, with its reason.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; `jacquard check` itself validates the values.
Correct: the value in `add_on_values` of `region.yaml` for all clusters; per-cluster values for trials and exceptions.
"""

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, advisory, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Report the values that only the cluster of the release has."""
    place = fact.at("metadata", "namespace"), fact.at("metadata", "name")
    if UNKNOWN in place:
        return undecided("the name or the namespace of the release")
    values = context.own_values.get((str(place[0]), str(place[1])))
    if not values:
        return PASS
    return violation(
        found=values,
        allowed=f"values from add_on_values of environments/{context.environment}/region.yaml and from the library",
        fix="move them to add_on_values of region.yaml, remove them, or add a waiver for this cluster",
    )


RULE = advisory(
    RuleId.OVERRIDDEN_ADD_ON,
    description="An add-on has the same values in each cluster of a region.",
    why="releases tested in all other clusters were not tested with these values",
    kinds={"HelmRelease"},
    find=find,
)
