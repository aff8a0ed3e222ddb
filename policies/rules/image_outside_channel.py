"""image-outside-channel: a node image that the environment's channel does not offer.

Why: a channel is how far an image has proven itself. A region that follows ``stable`` would otherwise run a
candidate on a tenant's nodes. A channel that offers nothing refuses everything.

Refused: an image with ``channel: [candidate]`` in an environment with ``image_channel: stable``.
Right: an image whose ``channel`` in the catalogue names the environment's channel.
"""

from __future__ import annotations

from policies.facts import UNKNOWN, Context, Fact
from policies.node_image import CATALOGUE, IMAGE, TEMPLATE
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look the template's image up among those that the channel offers."""
    checksum = fact.at(*IMAGE, "checksum")
    if checksum is UNKNOWN:
        return undecided(".".join((*IMAGE, "checksum")))
    offered = [image for image in context.images if context.channel in image.channel]
    if any(image.sha256 == checksum for image in offered):
        return PASS
    image = next((image for image in context.images if image.sha256 == checksum), None)
    found = f"{image.version} (channel {', '.join(image.channel)})" if image else f"checksum {checksum or 'missing'}"
    if context.channel is None:
        return violation(
            found=found,
            allowed=f"none: stack {context.stack} belongs to no environment that can be read",
            fix="call the stack <environment> or <environment>.<slice>, and put right what jacquard check finds",
        )
    return violation(
        found=found,
        allowed=f"channel {context.channel} of environments/{context.environment}/region.yaml offers "
        f"{listed([image.version for image in offered])} ({CATALOGUE})",
        fix="pin one of these with jacquard promote, or add the channel to the image once it has proven itself",
    )


RULE = Rule(
    name="image-outside-channel",
    description="A node boots an image that the environment's channel offers.",
    why="an image that has not proven itself would run on tenants' nodes",
    severity=Severity.CRITICAL,
    kinds=frozenset({TEMPLATE}),
    find=find,
)
