"""What the platform itself runs, and fetches to install it: each artefact once, and whether its digest decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from components.inputs.manifests import everything
from components.lookups.references.table import references_table
from components.lookups.references.walk import kind_of, look_up, references
from components.render.manifest import Manifest
from components.render.providers import KINDS
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.reading.cycle_collector import without_cycle_collector

FORMAT = 1
_FORMS = ("charts", "own-charts", "manifests", "cluster-api", "dpu-charts", "providers", "images")
"""Forms of prerequisites that are artefacts of the platform's, in the order they are told."""
_PINNED_AT = {
    "OCIRepository": ("spec.ref.tag", "spec.ref.digest"),
    "DPUServiceTemplate": ("spec.helmChart.source.version",),
    "NicClusterPolicy": ("spec.secondaryNetwork.multus.version",),
    "NicNodePolicy": ("spec.sriovDevicePlugin.version", "spec.rdmaSharedDevicePlugin.version"),
    **dict.fromkeys(KINDS.values(), ("spec.version",)),
}
"""Where a kind says the version or digest of what it names; all others say it in the name."""
_DIGEST = "sha256:"
_TAG_ALONE = {
    "DPUServiceTemplate": "DPF names charts of services on DPUs by version, and these charts name images by tag",
    **dict.fromkeys(KINDS.values(), "the Cluster API operator cuts a source at its colons, so it takes a tag alone"),
}
"""Why no digest decides what a kind names."""


class PlatformImage(Spec):
    """A chart, a release of a provider or a container image."""

    what: str
    """What it is, in words."""
    form: str
    """Short name of its form among the prerequisites."""
    name: str
    """Where it is fetched from, without tag and digest."""
    version: str | None
    """Version or tag; None where the digest stands alone."""
    digest: str | None
    """Digest, which decides what is fetched; None where the tag does."""
    needed_by: dict[str, int]
    """Number of objects that name it, by their kind."""


class PlatformImages(Spec):
    """All that the platform of a region fetches for itself, golden images of nodes, DPUs and VMs apart."""

    schema_version: int = FORMAT
    environment: str
    images: tuple[PlatformImage, ...]
    """All that the platform fetches for itself, in the order of their forms, and then of their names."""
    by_tag: dict[str, str]
    """Why no digest decides it, by form with such a thing."""


def platform_images(environment: Environment) -> PlatformImages:
    """Return what the platform of ``environment`` fetches for itself.

    What charts bring is not among it: their values say it, and nobody here opens a chart.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        SpecError: code of the repository's own components breaks.
    """
    table = references_table()
    kinds = {kind for kind, rows in table.refers.items() if any(row.form in _FORMS for row in rows)}
    found: dict[tuple[str, str, str | None, str | None], Counter[str]] = {}
    with without_cycle_collector():
        for item in everything(environment):
            for form, name in _named(item) if kind_of(item) in kinds else ():
                found.setdefault((form, *_pin(item, name)), Counter())[item.kind] += 1
    images = {
        f"{_FORMS.index(form)} {name} {version} {digest}": PlatformImage(
            what=table.forms[form].what, form=form, name=name, version=version, digest=digest, needed_by=dict(needed)
        )
        for (form, name, version, digest), needed in found.items()
    }
    ordered = tuple(images[key] for key in naturally(images))
    return PlatformImages(
        environment=environment.name,
        images=ordered,
        by_tag={
            image.form: _TAG_ALONE.get(next(iter(image.needed_by)), "nobody pinned it")
            for image in ordered
            if image.digest is None
        },
    )


def _named(item: Manifest) -> Iterator[tuple[str, str]]:
    for target, row, _ in references(item, references_table()):
        if row.form in _FORMS and not target.is_object:
            yield row.form or "", target.name


def _pin(item: Manifest, name: str) -> tuple[str, str | None, str | None]:
    """Return the name without its pin, and the version and digest that decide it."""
    place, _, digest = name.partition("@")
    image, colon, tag = place.rpartition(":")
    tagged = bool(colon) and "/" not in tag
    if digest or tagged:
        return (image if tagged else place), (tag if tagged else None), digest or None
    said = [str(value) for path in _PINNED_AT.get(item.kind, ()) for value, _ in look_up(item.body, path)]
    digests = [text for text in said if text.startswith(_DIGEST)]
    versions = [text for text in said if text not in digests]
    return name, versions[0] if versions else None, digests[0] if digests else None
