"""unpinned-image: a node image that is not pinned by a digest of the catalogue.

Why: Metal3 also takes a URL, md5 or nothing as checksum, and then the file behind the image's URL can change: two
nodes of one pool boot different software. A URL with another image's digest never boots at all.

Refused: ``checksum: https://images.cloud.example/gpu-2026.11.1.raw.sha256sum``
Right: ``checksum: <64 hex digits>`` and ``checksumType: sha256``, both of the image whose URL it is.
"""

from __future__ import annotations

import re

from components.specs.catalog import GoldenImage
from policies.facts import UNKNOWN, Context, Fact
from policies.node_image import CATALOGUE, IMAGE, TEMPLATE
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FIELDS = ("url", "checksum", "checksumType")


def find(fact: Fact, context: Context) -> Finding:
    """Compare the image of a machine template with the catalogue."""
    values = {field: fact.at(*IMAGE, field) for field in _FIELDS}
    for field, value in values.items():
        if value is UNKNOWN:
            return undecided(".".join((*IMAGE, field)))
    url, checksum, checksum_type = values.values()
    if any(image.sha256 == checksum and image.url == url for image in context.images) and checksum_type == "sha256":
        return PASS
    of_url = next((image for image in context.images if image.url == url), None)
    return violation(
        found=_found(url, checksum, checksum_type, context.images),
        allowed=_allowed(of_url, context),
        fix="name a version of the catalogue as the pool's image, and let jacquard promote pin its digest",
    )


def _found(url: object, checksum: object, checksum_type: object, images: tuple[GoldenImage, ...]) -> str:
    if url is None:
        return "no image"
    if checksum_type != "sha256":
        return f"checksumType {checksum_type or 'missing'} (checksum {checksum or 'missing'})"
    if not isinstance(checksum, str) or not _SHA256.fullmatch(checksum):
        return f"checksum {checksum or 'missing'}, which is not the 64 hex digits of a SHA-256"
    other = next((image.version for image in images if image.sha256 == checksum), None)
    return f"{url} with sha256 {checksum}" + (f" of {other}" if other else ", which the catalogue does not have")


def _allowed(of_url: GoldenImage | None, context: Context) -> str:
    if of_url is not None:
        return f"sha256 {of_url.sha256} for {of_url.version} ({CATALOGUE})"
    return f"the images of {CATALOGUE}: {listed([image.version for image in context.images])}"


RULE = Rule(
    name="unpinned-image",
    description="A node boots a golden image that is pinned by its digest in the catalogue.",
    why="what is not pinned can change under us, and two nodes of one pool would boot different software",
    severity=Severity.CRITICAL,
    kinds=frozenset({TEMPLATE}),
    find=find,
)
