"""unpinned-image: a node image that is not pinned by a digest of the catalogue.

Why: Metal3 also takes a URL, md5 or nothing as checksum, and IronCore a tag. Then what is behind the image's name can
change: two nodes of one pool boot different software. A name with another image's digest never boots at all.

Refused: ``checksum: https://images.cloud.example/gpu-2026.11.1.raw.sha256sum``
Refused: ``image: images.cloud.example/gpu-2026.11.1.raw:latest``
Right: ``checksum: <64 hex digits>`` and ``checksumType: sha256``, both of the image whose URL it is.
Right: ``image: images.cloud.example/gpu-2026.11.1.raw@sha256:<64 hex digits>``
Right: the URL that ``images.lock.yaml`` has for the digest, although the catalogue names another mirror by now.
"""

from __future__ import annotations

from components.specs.region.policy import RuleId
from policies.facts import Context, Fact
from policies.node_image import CATALOGUE, TEMPLATES, NodeImage, node_image
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation


def find(fact: Fact, context: Context) -> Finding:
    """Compare the image of a machine template with the catalogue."""
    image = node_image(fact)
    if isinstance(image, Finding):
        return image
    entry = image.entry(context)
    known = entry is not None and (entry.url == image.url or (image.url, image.sha256) in context.locked)
    if known and not image.fault:
        return PASS
    return violation(
        found=image.fault or f"{image.url} with sha256 {image.sha256}{_whose(image, context)}",
        allowed=_allowed(image, context),
        fix="name a version of the catalogue as the pool's image, and let jacquard promote pin its digest",
    )


def _whose(image: NodeImage, context: Context) -> str:
    entry = image.entry(context)
    return f" of {entry.version}" if entry else ", which the catalogue does not have"


def _allowed(image: NodeImage, context: Context) -> str:
    for entry in context.images:
        if entry.url == image.url:
            return f"sha256 {entry.sha256} for {entry.version} ({CATALOGUE})"
    return f"the images of {CATALOGUE}: {listed([entry.version for entry in context.images])}"


RULE = Rule(
    name=RuleId.UNPINNED_IMAGE,
    description="A node image is pinned by the SHA-256 that the catalogue has for it.",
    why="what is not pinned can change under us, and two nodes of one pool would boot different software",
    severity=Severity.CRITICAL,
    kinds=TEMPLATES,
    find=find,
)
