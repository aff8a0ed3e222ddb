"""Artefacts that the platform fetches for its own installation, and whether their digests are pinned."""

from collections import Counter
from collections.abc import Iterable, Iterator

from components.inputs.manifests import everything
from components.lookups.references.table import references_table
from components.lookups.references.walk import kind_of, look_up, references
from components.render.manifest import Manifest
from components.render.providers import KINDS
from components.specs.base import Spec
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.natural import naturally

FORMAT = 1
_FORMS = ("charts", "own-charts", "manifests", "cluster-api", "dpu-charts", "providers", "images")
"""Forms of prerequisites that are artefacts of the platform, in display order."""
_PINNED_AT = {
    "OCIRepository": ("spec.ref.tag", "spec.ref.digest"),
    "DPUServiceTemplate": ("spec.helmChart.source.version",),
    **dict.fromkeys(KINDS.values(), ("spec.version",)),
}
"""Path of the version or digest, by kind. For all other kinds the name of the artefact includes the version or
digest."""
_SECTIONS = {
    "NicClusterPolicy": ("spec.secondaryNetwork.cniPlugins", "spec.secondaryNetwork.multus"),
    "NicNodePolicy": ("spec.sriovDevicePlugin", "spec.rdmaSharedDevicePlugin"),
}
"""Paths of the images of a kind, each with repository, image and version."""
_DIGEST = "sha256:"
_TAG_ALONE = {
    **dict.fromkeys(
        ("KamajiControlPlane", "K0smotronControlPlane"),
        "control planes use images with their version as tag",
    ),
    "Ironic": "its operator decides on the release; set ironic in catalog/versions.yaml",
    "DPUServiceTemplate": "DPF refers to charts of services on DPUs by version, and these charts to images by tag",
    **dict.fromkeys(KINDS.values(), "the Cluster API operator splits a source at its colons, so it supports tags only"),
}
"""Reasons why a kind cannot be pinned by digest."""


class PlatformImage(Spec):
    """Chart, provider release or container image."""

    what: str
    """Description of the artefact."""
    form: str
    """Short name of the form of prerequisite."""
    name: str
    """Location of the artefact, without tag and digest."""
    version: str | None
    """Version or tag; None if only the digest is set."""
    digest: str | None
    """Pinned digest; None if only the tag is set."""
    needed_by: dict[str, int]
    """Number of referring objects, by kind."""


class PlatformImages(Spec):
    """Artefacts that the platform of a region fetches, without ramdisks, and golden images of nodes, DPUs and VMs."""

    schema_version: int = FORMAT
    environment: str
    images: tuple[PlatformImage, ...]
    """All artefacts of the platform, ordered by form and name."""
    by_tag: dict[str, str]
    """Reasons for artefacts without pinned digest, by form."""


def platform_images(environment: Environment) -> PlatformImages:
    """Return the artefacts that the platform of ``environment`` fetches.

    Images inside charts are not included, because the report does not render charts.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails.
    """
    table = references_table()
    kinds = {kind for kind, rows in table.refers.items() if any(row.form in _FORMS for row in rows)}
    counts: dict[tuple[str, str, str | None, str | None], Counter[str]] = {}
    with without_cycle_collector():
        for item in everything(environment):
            for form, name in _named(item) if kind_of(item) in kinds else ():
                counts.setdefault((form, *_pin(item, name)), Counter())[item.kind] += 1
    images = {
        f"{_FORMS.index(form)} {name} {version} {digest}": PlatformImage(
            what=table.forms[form].what, form=form, name=name, version=version, digest=digest, needed_by=dict(needed)
        )
        for (form, name, version, digest), needed in counts.items()
    }
    ordered = tuple(images[key] for key in naturally(images))
    return PlatformImages(
        environment=environment.name,
        images=ordered,
        by_tag=_reasons(ordered),
    )


def container_images(items: Iterable[Manifest]) -> set[str]:
    """Return the names of the container images that the pods of ``items`` run, without images inside charts."""
    return {name for item in items for form, name in _named(item) if form == "images"}


def _reasons(images: tuple[PlatformImage, ...]) -> dict[str, str]:
    reasons: dict[str, dict[str, None]] = {}
    for image in images:
        if image.digest is None:
            reason = _TAG_ALONE.get(next(iter(image.needed_by)), "it is not pinned")
            reasons.setdefault(image.form, {})[reason] = None
    return {form: "; ".join(texts) for form, texts in reasons.items()}


def _named(item: Manifest) -> Iterator[tuple[str, str]]:
    for target, row, _ in references(item, references_table()):
        if row.form in _FORMS and not target.is_object:
            yield row.form or "", target.name


def _pin(item: Manifest, name: str) -> tuple[str, str | None, str | None]:
    """Return the name without version and digest, the version, and the digest."""
    place, _, digest = name.partition("@")
    image, colon, tag = place.rpartition(":")
    tagged = bool(colon) and "/" not in tag
    if digest or tagged:
        return (image if tagged else place), (tag if tagged else None), digest or None
    pinned = [str(value) for path in _PINNED_AT.get(item.kind, ()) for value, _ in look_up(item.body, path)]
    sections = [value for path in _SECTIONS.get(item.kind, ()) for value, _ in look_up(item.body, path)]
    pinned += [str(one["version"]) for one in sections if f"{one['repository']}/{one['image']}" == name]
    digests = [text for text in pinned if text.startswith(_DIGEST)]
    versions = [text for text in pinned if text not in digests]
    return name, versions[0] if versions else None, digests[0] if digests else None
