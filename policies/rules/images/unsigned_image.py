"""unsigned-image: a production node image without a signature.

Why: a digest proves that the image is the one in the catalogue, but not who built it. Without signatures, anyone with
write access to the catalogue could deploy any image to every node.

Rejected: an image without ``signature`` in an environment of stage ``production``.
Correct: ``signature: {kind: cosign, url: "https://images.cloud.example/gpu-2026.11.1.raw.sig"}`` in the catalogue.
Other stages are not checked, unless their ``policy.yaml`` lists the policy. The image release process must verify the
signature; Jacquard does not fetch the signature.
"""

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, catalogued
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check for a signature of the template's image."""
    entry = catalogued(fact, context)
    if isinstance(entry, Finding):
        return entry
    if entry.signature is not None:
        return PASS
    signed = [other.version for other in context.images if other.signature and context.channel in other.channel]
    return violation(
        found=f"{entry.version}, without a signature in {CATALOGUE}",
        allowed=f"signed images of channel {context.channel}: {listed(signed)}",
        fix="sign it and add its signature to the catalogue, or pin a signed image with jacquard promote",
    )


RULE = Rule(
    name=RuleId.UNSIGNED_IMAGE,
    description="In production a node boots a signed image.",
    why="a digest does not prove who built the image",
    severity=Severity.HIGH,
    kinds=TEMPLATES,
    find=find,
    levels={Stage.PRODUCTION: Enforcement.MANDATORY},
)
