"""Reads the node image from machine templates of each bare-metal backend, for the rules about images."""

import re
from typing import Any

from components.specs.region.catalog import GoldenImage
from components.specs.struct import Struct
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, Finding, undecided

METAL3 = "Metal3MachineTemplate"
IRONCORE = "IroncoreMetalMachineTemplate"
TEMPLATES = frozenset({METAL3, IRONCORE})
CATALOGUE = "environments/catalog/images.yaml"
_IMAGE = ("spec", "template", "spec", "image")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DIGEST = "sha256:"


class NodeImage(Struct):
    """Image of a machine template."""

    url: str | None
    sha256: Any
    """Value of the digest field."""
    fault: str = ""
    """Reason why the image is not pinned; empty if it is pinned."""

    def entry(self, context: Context) -> GoldenImage | None:
        """Return the catalogue image with this digest."""
        return next((image for image in context.images if image.sha256 == self.sha256), None)

    @property
    def digest(self) -> str:
        """Return the digest as message text."""
        return f"checksum {self.sha256 or 'missing'}"


def node_image(fact: Fact) -> NodeImage | Finding:
    """Return the image of the machine template ``fact``, or an undecided finding if it is unknown before apply."""
    return _ironcore(fact) if fact.kind == IRONCORE else _metal3(fact)


def catalogued(fact: Fact, context: Context) -> GoldenImage | Finding:
    """Return the catalogue image of the machine template ``fact``; rule unpinned-image reports other images."""
    image = node_image(fact)
    return image if isinstance(image, Finding) else image.entry(context) or NOT_APPLICABLE


def _metal3(fact: Fact) -> NodeImage | Finding:
    fields = ("url", "checksum", "checksumType")
    values = {field: fact.at(*_IMAGE, field) for field in fields}
    for field, value in values.items():
        if value is UNKNOWN:
            return undecided(".".join((*_IMAGE, field)))
    url, checksum, kind = values.values()
    image = NodeImage(url=url, sha256=checksum)
    if url is None:
        fault = "no image"
    elif kind != "sha256":
        fault = f"checksumType {kind or 'missing'} ({image.digest})"
    else:
        fault = "" if _is_sha256(checksum) else f"{image.digest}, which is not the 64 hex digits of a SHA-256"
    return NodeImage(url=url, sha256=checksum, fault=fault)


def _ironcore(fact: Fact) -> NodeImage | Finding:
    value = fact.at(*_IMAGE)
    if value is UNKNOWN:
        return undecided(".".join(_IMAGE))
    if not isinstance(value, str) or not value:
        return NodeImage(url=None, sha256=None, fault="an image that is not a string" if value else "no image")
    repository, _, pinned = value.partition("@")
    sha256 = pinned.removeprefix(_DIGEST)
    pins = pinned.startswith(_DIGEST) and _is_sha256(sha256)
    fault = "" if pins else f"{value}, which does not end with @sha256: and 64 hex digits"
    return NodeImage(url=f"https://{repository}", sha256=sha256, fault=fault)


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and bool(_SHA256.fullmatch(value))
