"""unpinned-image: a node image that is not pinned by a digest of the catalogue.

Why: Metal3 also accepts a URL, an md5 digest or an empty checksum, and IronCore accepts a tag. The content behind the
image's name can then change, so that two nodes of one pool boot different software. An image with the digest of another
image never boots.

Rejected: ``checksum: https://images.cloud.example/gpu-2026.11.1.raw.sha256sum``
Rejected: ``image: images.cloud.example/gpu-2026.11.1.raw:latest``
Correct: ``checksum: <64 hex digits>`` and ``checksumType: sha256``, both of the image at the URL.
Correct: ``image: images.cloud.example/gpu-2026.11.1.raw@sha256:<64 hex digits>``
Correct: the URL of the digest in ``images.lock.yaml``, even if the catalogue now names another mirror.
"""

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
        found=image.fault or f"{image.url} with sha256 {image.sha256}{_version_text(image, context)}",
        allowed=_allowed(image, context),
        fix="set a catalogue version as the pool's image, and run jacquard promote to pin its digest",
    )


def _version_text(image: NodeImage, context: Context) -> str:
    entry = image.entry(context)
    return f" of {entry.version}" if entry else ", which is not in the catalogue"


def _allowed(image: NodeImage, context: Context) -> str:
    for entry in context.images:
        if entry.url == image.url:
            return f"sha256 {entry.sha256} for {entry.version} ({CATALOGUE})"
    return f"the images of {CATALOGUE}: {listed([entry.version for entry in context.images])}"


RULE = Rule(
    name=RuleId.UNPINNED_IMAGE,
    description="A node image is pinned by its SHA-256 in the catalogue.",
    why="an unpinned image can change, so that two nodes of one pool would boot different software",
    severity=Severity.CRITICAL,
    kinds=TEMPLATES,
    find=find,
)
