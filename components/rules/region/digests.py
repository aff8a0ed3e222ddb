"""Rules about digests: content that is fetched by a digest has the same version and the same software forever.

Everything is fetched by its digest, so an edit of a version alone changes nothing that runs. Pins in lock files and the
base of a change record what a digest contains.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from components.lookups.pools import DataPath, place, problem, tenant_file
from components.render.region.cluster_api import PROVIDERS
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.firmware import Firmware
from components.specs.reading.loader import FIRMWARE, IMAGE_PINS, IMAGES, VERSIONS, VM_OFFERINGS
from components.specs.reading.problems import Problem, listed
from components.specs.region.catalog import ImageContents
from components.specs.struct import Struct, replace

_OF_DPU_IMAGES = ("version", "bsp", "doca", "uefi", "atf")
_OF_PROVIDERS = f"digest of {PROVIDERS}"
_REMEDIES = {
    "digest": "write the digest of {}",
    _OF_PROVIDERS: "write the digest of an artefact with {}",
    "sha256": "add a separate image with its own sha256",
    "url": "write the URL of {}",
}
"""Remedy for a new value, by the field that identifies the content."""
_SHA256 = "sha256"


class Fact(Struct):
    """Version of content, or of software in it, as recorded in the catalogue, in a tenant's file or in a pin."""

    content: str
    """Digest of the content; the URL of firmware, which has no digest."""
    key: str
    """Field that contains ``content``."""
    name: str
    """What has the version, such as ``contents.kubelet``."""
    value: str
    subject: str
    """Subject of waivers: the name of the row."""
    file: str
    path: DataPath
    is_written: bool = True
    """Whether the data contain the value; a default value is not known to be right."""


class _Row(Struct, kw_only=False):
    """Entry of a file that records versions of content."""

    file: str
    path: DataPath
    key: str
    subject: str

    def facts(self, entry: Any, names: Iterable[str], inside: str = "") -> Iterator[Fact]:
        """Yield the facts in the fields ``names`` of ``entry``, or of the object in its field ``inside``."""
        for name in names:
            value = getattr(getattr(entry, inside) if inside else entry, name)
            if value is not None:
                path = (inside, name) if inside else (name,)
                yield self.fact(getattr(entry, self.key), ".".join(path), value, path)

    def contents(self, sha256: str, contents: ImageContents) -> Iterator[Fact]:
        """Yield all facts about the software in a golden image: versions, names, settings and parts."""
        for name in ImageContents.model_fields:
            if (value := getattr(contents, name)) is not None:
                fact = self.fact(sha256, f"contents.{name}", _text(value), ("contents", name))
                yield replace(fact, is_written=name in contents.model_fields_set)

    def fact(self, content: str, name: str, value: str, path: DataPath) -> Fact:
        """Return the fact at ``path`` of the entry."""
        return Fact(
            content=content,
            key=self.key,
            name=name,
            value=str(value),
            subject=self.subject,
            file=self.file,
            path=(*self.path, *path),
        )


def pinned(environment: Environment) -> Iterator[Problem]:
    """Report versions that differ from those of pins, or of earlier rows, with the same digest.

    Nodes, DPUs and charts are fetched by their digest, so nothing would be upgraded.
    """
    known: dict[tuple[str, str], Fact] = {}
    for fact in (*_pins(environment), *facts(environment)):
        key = (fact.content, fact.name)
        earlier = known.setdefault(key, fact) if fact.is_written else known.get(key, fact)
        if earlier.value != fact.value and fact.file != IMAGE_PINS:
            yield _contradiction(environment, fact, earlier, place(environment, earlier.file, earlier.path))


def changed(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report versions that a change edits without their digest: nothing would be upgraded.

    Commands with ``--base`` evaluate this rule. A waiver permits the correction of a value that was wrong; its subject
    is the name of the chart, manifest, tool or firmware baseline, or the version of the image, after the change.
    """
    known = {(fact.content, fact.name): fact for fact in facts(base) if fact.is_written}
    for fact in facts(head):
        earlier = known.get((fact.content, fact.name))
        if earlier is not None and earlier.value != fact.value:
            yield _contradiction(head, fact, earlier, f"base: {place(base, earlier.file, earlier.path)}")


def _contradiction(environment: Environment, fact: Fact, earlier: Fact, there: str) -> Problem:
    text = (
        f"{fact.value} instead of {earlier.value} ({there}), but the {fact.key} is the same; restore {earlier.value},"
        f" or {_REMEDIES[fact.key].format(fact.value)}"
    )
    return problem(environment, fact.file, fact.path, text, subject=fact.subject)


def facts(environment: Environment) -> Iterator[Fact]:
    """Yield the versions in the catalogue and in tenants' files."""
    yield from _of_versions(environment)
    yield from _of_images(environment)
    for index, system in enumerate(environment.vm_catalog.images):
        yield from _Row(VM_OFFERINGS, ("images", index), _SHA256, system.version).facts(system, ("version",))
    for tenant in environment.tenants:
        for index, own in enumerate(tenant.vms.own_images if tenant.vms else ()):
            path = ("vms", "own_images", index)
            if own.http is not None:
                row, content = _Row(tenant_file(tenant), path, _SHA256, own.version), own.http.sha256
            elif own.registry is not None:
                row, content = _Row(tenant_file(tenant), path, "digest", own.version), _digest(own.registry.image)
            else:
                continue
            yield row.fact(content, f"version of {tenant.tenant}", own.version, ("version",))
    for index, baseline in enumerate(environment.firmware.firmware_baselines):
        yield from _of_firmware(_Row(FIRMWARE, ("firmware_baselines", index), "url", baseline.name), baseline)


def _of_images(environment: Environment) -> Iterator[Fact]:
    """Yield the versions in golden images and images of DPUs, with kernel arguments and sysctls."""
    for index, image in enumerate(environment.images.images):
        row = _Row(IMAGES, ("images", index), _SHA256, image.version)
        yield from row.facts(image, ("version", "boot"))
        yield from row.contents(image.sha256, image.contents)
        if arguments := " ".join(image.profile.kernel_arguments):
            yield row.fact(image.sha256, "profile.kernel_arguments", arguments, ("profile", "kernel_arguments"))
        for name, value in image.profile.sysctls.items():
            yield row.fact(image.sha256, f"profile.sysctls.{name}", str(value), ("profile", "sysctls", name))
    for index, bundle in enumerate(environment.images.dpu_images):
        yield from _Row(IMAGES, ("dpu_images", index), _SHA256, bundle.version).facts(bundle, _OF_DPU_IMAGES)


def _of_versions(environment: Environment) -> Iterator[Fact]:
    vector = environment.versions
    for index, chart in enumerate(vector.charts):
        yield from _Row(VERSIONS, ("charts", index), "digest", chart.name).facts(chart, ("version",))
    for index, artefact in enumerate(vector.manifests):
        row = _Row(VERSIONS, ("manifests", index), "digest", artefact.name)
        yield from row.facts(artefact, ("version",))
        for name, version in artefact.contents.items():
            yield row.fact(artefact.digest, f"contents.{name}", version, ("contents", name))
        if artefact.name == PROVIDERS:
            row = _Row(VERSIONS, ("cluster_api",), _OF_PROVIDERS, artefact.name)
            for name, release in vector.cluster_api.releases.items():
                yield row.fact(artefact.digest, f"cluster_api.{name}", release, (name,))
    for index, tool in enumerate(vector.tools):
        yield from _Row(VERSIONS, ("tools", index), "digest", tool.name).facts(tool, ("tag",))
    if vector.ironic is not None:
        row, ironic = _Row(VERSIONS, ("ironic",), "digest", "ironic"), vector.ironic
        yield row.fact(_digest(ironic.image), "version", ironic.version, ("version",))


def _pins(environment: Environment) -> Iterator[Fact]:
    """Yield the versions in pins, without those that only a rollback would restore."""
    lock = environment.image_pins
    used = dict.fromkeys(lock.moved.values())
    for name in filter(lock.intents.__contains__, used):
        node = lock.intents[name]
        row = _Row(IMAGE_PINS, ("intents", name), _SHA256, node.image)
        yield row.fact(node.sha256, "version", node.image, ("image",))
        yield row.fact(node.sha256, "boot", node.boot, ("boot",))
        yield row.fact(node.sha256, "contents.kubelet", node.kubelet, ("kubelet",))
        if node.firmware is not None:
            row = _Row(IMAGE_PINS, ("intents", name, "firmware"), "url", node.firmware.name)
            yield from _of_firmware(row, node.firmware)
    for name in filter(lock.dpu_intents.__contains__, used):
        dpu = lock.dpu_intents[name]
        row = _Row(IMAGE_PINS, ("dpu_intents", name), _SHA256, dpu.image)
        yield row.fact(dpu.sha256, "version", dpu.image, ("image",))
        yield from row.facts(dpu, _OF_DPU_IMAGES[1:])
    for name in filter(lock.chart_intents.__contains__, used):
        chart = lock.chart_intents[name]
        yield from _Row(IMAGE_PINS, ("chart_intents", name), "digest", chart.chart).facts(chart, ("version",))


def _of_firmware(row: _Row, firmware: Firmware) -> Iterator[Fact]:
    for name, component in firmware.components.items():
        if component.url is not None:
            yield row.fact(component.url, name, component.version, ("components", name, "version"))


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return listed(value)
        case BaseModel():
            return value.model_dump_json(exclude_unset=True)
        case _:
            return str(value)


def _digest(image: str) -> str:
    return image.rpartition("@")[2]


RULES = Rules(locks=(pinned,))
CHANGES = (changed,)
"""Rules about the change from a base to a head."""
