"""chart-outside-channel: a release of a chart that the environment's channel does not offer, or that was revoked.

Why: a channel is how far a release has proven itself, and a release is revoked once it has shown what it breaks. The
agents of a chart run on each node of a tenant.

Refused: a release with ``channel: [candidate]`` in an environment with ``image_channel: stable``.
Refused: a release with ``revoked: loses packets of pods``.
Right: a release of ``catalog/versions.yaml`` with neither; ``jacquard promote ENV charts/CHART`` moves clusters there.
What the catalogue does not have is left to ``jacquard check``, which asks it of pins of charts.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

CATALOGUE = "environments/catalog/versions.yaml"
_DIGEST = ("spec", "ref", "digest")


def find(fact: Fact, context: Context) -> Finding:
    """Look the release of a source up among those of the catalogue."""
    digest = fact.at(*_DIGEST)
    if digest is UNKNOWN:
        return undecided(".".join(_DIGEST))
    chart = next((one for one in context.charts if one.digest == digest), None)
    if chart is None or context.channel is None:
        return NOT_APPLICABLE
    if chart.offered_by(context.channel) and not chart.revoked:
        return PASS
    why = f"revoked: {chart.revoked}" if chart.revoked else f"channel {', '.join(chart.channel)}"
    others = [one for one in context.charts if one.name == chart.name and not one.revoked]
    offered = [one.version for one in others if one.offered_by(context.channel)]
    return violation(
        found=f"{chart.name} {chart.version} ({why})",
        allowed=f"channel {context.channel} of environments/{context.environment}/region.yaml offers {listed(offered)}"
        f" ({CATALOGUE})",
        fix=f"move clusters to one of these with jacquard promote {context.environment} charts/{chart.name}",
    )


RULE = Rule(
    name=RuleId.CHART_OUTSIDE_CHANNEL,
    description="A chart is a release that the environment's channel offers and nobody revoked.",
    why="a release that has not proven itself, or has shown what it breaks, would run on tenants' nodes",
    severity=Severity.HIGH,
    kinds=frozenset({"OCIRepository"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.MANDATORY),
)
