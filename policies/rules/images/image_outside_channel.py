"""image-outside-channel: a node image that the environment's channel does not offer, or that is revoked.

Why: a channel indicates the maturity of an image. Without this policy, a region with channel ``stable`` could run a
candidate on a tenant's nodes. A channel without images rejects every image.

Rejected: an image with ``channel: [candidate]`` in an environment with ``image_channel: stable``.
Rejected: an image with ``revoked: kernel lets pods leave their node``, in any channel.
Correct: an image whose ``channel`` in the catalogue contains the environment's channel. To try another image on a
pool, first add a waiver with the pool as its subject; ``jacquard promote`` can then pin the image.
"""

from components.specs.region.catalog import GoldenImage
from components.specs.region.policy import RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, node_image
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check whether the channel offers the template's image."""
    image = node_image(fact)
    if isinstance(image, Finding):
        return image
    entry = image.entry(context)
    if entry is not None and context.channel in entry.channel and not entry.revoked:
        return PASS
    image_text = f"{entry.version} ({_fault(entry)})" if entry else image.digest
    if context.channel is None:
        return violation(
            found=image_text,
            allowed=f"none: stack {context.stack} belongs to no readable environment",
            fix="rename the stack to <environment> or <environment>.<slice>, and fix the errors of jacquard check",
        )
    offered = [other.version for other in context.images if context.channel in other.channel and not other.revoked]
    return violation(
        found=image_text,
        allowed=f"channel {context.channel} of environments/{context.environment}/region.yaml offers "
        f"{listed(offered)} ({CATALOGUE})",
        fix="pin an offered image with jacquard promote, or add the channel to the image once it is mature",
    )


def _fault(entry: GoldenImage) -> str:
    return f"revoked: {entry.revoked}" if entry.revoked else f"channel {', '.join(entry.channel)}"


RULE = Rule(
    name=RuleId.IMAGE_OUTSIDE_CHANNEL,
    description="A node boots an image that the environment's channel offers and that is not revoked.",
    why="an immature or defective image would run on tenants' nodes",
    severity=Severity.CRITICAL,
    kinds=TEMPLATES,
    find=find,
)
