"""unsigned-image: a production node image without a signature or provenance.

Why: a digest proves that the image is the one in the catalogue, but not who built it. Without signatures, anyone with
write access to the catalogue could deploy any image to every node. Without provenance, the images of a compromised
builder cannot be found.

Rejected: an image without ``signature`` in an environment of stage ``production``.
Reported: a signed image without ``provenance``.
Correct: ``signature: {kind: cosign, url: "https://images.cloud.example/gpu-2026.11.1.raw.sig", provenance: ...}``.
Other stages are not checked, unless their ``policy.yaml`` lists the policy. The image release process must verify the
signature and the provenance; Jacquard does not fetch them.
"""

from components.specs.base import Stage
from components.specs.region.catalog import GoldenImage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, catalogued
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check for a signature and the provenance of the template's image."""
    entry = catalogued(fact, context)
    if isinstance(entry, Finding):
        return entry
    if entry.signature is not None:
        return PASS if entry.signature.provenance else _without_provenance(entry)
    signed = [other.version for other in context.images if other.signature and context.channel in other.channel]
    return violation(
        found=f"{entry.version}, without a signature in {CATALOGUE}",
        allowed=f"signed images of channel {context.channel}: {listed(signed)}",
        fix="sign it and add its signature to the catalogue, or pin a signed image with jacquard promote",
    )


def _without_provenance(entry: GoldenImage) -> Finding:
    return violation(
        found=f"{entry.version}, without provenance in {CATALOGUE}",
        allowed="signed images with a SLSA provenance of their builder",
        fix="let the builder sign a provenance, and add its URL to the signature in the catalogue",
        level=Enforcement.ADVISORY,
    )


RULE = Rule(
    name=RuleId.UNSIGNED_IMAGE,
    description="In production a node boots a signed image with provenance.",
    why="a digest does not prove who built the image",
    severity=Severity.HIGH,
    kinds=TEMPLATES,
    find=find,
    levels={Stage.PRODUCTION: Enforcement.MANDATORY},
)
