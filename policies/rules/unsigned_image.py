"""unsigned-image: a node image of production without a signature.

Why: a digest says that the image is the one in the catalogue, not who built it. Whoever can write to the catalogue
could otherwise put an image of their own on every node.

Refused: an image without ``signature`` in an environment of stage ``production``.
Right: ``signature: {kind: cosign, url: "https://images.cloud.example/gpu-2026.11.1.raw.sig"}`` in the catalogue. Other
stages are not asked, unless their ``policy.yaml`` lists the rule. That the signature is good is for the release
of images to verify: nothing here fetches it.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, catalogued
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look for the signature of the template's image."""
    entry = catalogued(fact, context)
    if isinstance(entry, Finding):
        return entry
    if entry.signature is not None:
        return PASS
    signed = [other.version for other in context.images if other.signature and context.channel in other.channel]
    return violation(
        found=f"{entry.version}, which has no signature in {CATALOGUE}",
        allowed=f"signed images of channel {context.channel}: {listed(signed)}",
        fix="sign the image and add its signature to the catalogue, or pin a signed one with jacquard promote",
    )


RULE = Rule(
    name=RuleId.UNSIGNED_IMAGE,
    description="In production a node boots an image that is signed.",
    why="a digest does not say who built the image",
    severity=Severity.HIGH,
    kinds=TEMPLATES,
    find=find,
    levels={Stage.PRODUCTION: Enforcement.MANDATORY},
)
