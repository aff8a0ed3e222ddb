"""chart-outside-channel: a chart release that the environment's channel does not offer, or a revoked release.

Why: a channel indicates the maturity of a release, and releases with known defects are revoked. The agents of a chart
run on each node of a tenant.

Rejected: a release with ``channel: [candidate]`` in an environment with ``image_channel: stable``.
Rejected: a release with ``revoked: loses packets of pods``.
Correct: an unrevoked release of ``catalog/versions.yaml`` in the environment's channel; run ``jacquard promote ENV
charts/CHART`` to move clusters to it. ``jacquard check`` reports pinned charts that the catalogue does not contain.
"""

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

CATALOGUE = "environments/catalog/versions.yaml"
_DIGEST = ("spec", "ref", "digest")


def find(fact: Fact, context: Context) -> Finding:
    """Look up the chart release of a source in the catalogue."""
    digest = fact.at(*_DIGEST)
    if digest is UNKNOWN:
        return undecided(".".join(_DIGEST))
    chart = next((item for item in context.charts if item.digest == digest), None)
    if chart is None or context.channel is None:
        return NOT_APPLICABLE
    if chart.offered_by(context.channel) and not chart.revoked:
        return PASS
    why = f"revoked: {chart.revoked}" if chart.revoked else f"channel {', '.join(chart.channel)}"
    others = [item for item in context.charts if item.name == chart.name and not item.revoked]
    offered = [item.version for item in others if item.offered_by(context.channel)]
    return violation(
        found=f"{chart.name} {chart.version} ({why})",
        allowed=f"channel {context.channel} of environments/{context.environment}/region.yaml offers {listed(offered)}"
        f" ({CATALOGUE})",
        fix=f"move clusters to an offered release with jacquard promote {context.environment} charts/{chart.name}",
    )


RULE = Rule(
    name=RuleId.CHART_OUTSIDE_CHANNEL,
    description="A chart release is in the environment's channel and not revoked.",
    why="an immature or defective release would run on tenants' nodes",
    severity=Severity.HIGH,
    kinds=frozenset({"OCIRepository"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.MANDATORY),
)
