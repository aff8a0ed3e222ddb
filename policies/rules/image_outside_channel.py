"""image-outside-channel: a node image that the environment's channel does not offer.

Why: a channel is how far an image has proven itself. A region that follows ``stable`` would otherwise run a
candidate on a tenant's nodes. A channel that offers nothing refuses everything.

Refused: an image with ``channel: [candidate]`` in an environment with ``image_channel: stable``.
Right: an image whose ``channel`` in the catalogue names the environment's channel. To try another one on a pool, write
a waiver with the pool as its subject first: ``jacquard promote`` then pins it.
"""

from __future__ import annotations

from components.specs.region.policy import RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, node_image
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look the template's image up among those that the channel offers."""
    image = node_image(fact)
    if isinstance(image, Finding):
        return image
    entry = image.entry(context)
    if entry is not None and context.channel in entry.channel:
        return PASS
    found = f"{entry.version} (channel {', '.join(entry.channel)})" if entry else image.digest
    if context.channel is None:
        return violation(
            found=found,
            allowed=f"none: stack {context.stack} belongs to no environment that can be read",
            fix="call the stack <environment> or <environment>.<slice>, and put right what jacquard check finds",
        )
    offered = [other.version for other in context.images if context.channel in other.channel]
    return violation(
        found=found,
        allowed=f"channel {context.channel} of environments/{context.environment}/region.yaml offers "
        f"{listed(offered)} ({CATALOGUE})",
        fix="pin one of these with jacquard promote, or add the channel to the image once it has proven itself",
    )


RULE = Rule(
    name=RuleId.IMAGE_OUTSIDE_CHANNEL,
    description="A node boots an image that the environment's channel offers.",
    why="an image that has not proven itself would run on tenants' nodes",
    severity=Severity.CRITICAL,
    kinds=TEMPLATES,
    find=find,
)
