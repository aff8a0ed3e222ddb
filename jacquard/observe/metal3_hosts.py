"""Reads hosts and images from objects of Metal3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jacquard.observe.objects import UNKNOWN, Object, Objects, Place, Report, key
from jacquard.providers.kube.objects import dig

_API = "metal3.io/v1alpha1"
_HOST = "BareMetalHost"
HOSTS = ((_API, _HOST),)
REPORTS = (*HOSTS, (_API, "HostFirmwareSettings"), (_API, "HostFirmwareComponents"))


def image(template: Object) -> str | None:
    """Return the SHA-256 of the image in a Metal3MachineTemplate; its checksum has no other type."""
    checksum: str | None = dig(template, "spec", "template", "spec", "image", "checksum")
    return checksum


def states(of: Objects) -> Iterator[tuple[str, str]]:
    """Yield each host with its provisioning state: ``available`` is free, ``provisioned`` runs a node."""
    for body in of(_HOST):
        yield key(body)[1], str(dig(body, "status", "provisioning", "state") or UNKNOWN)


def report(of: Objects) -> Report:
    """Return a function that finds a host by namespace and name, as in the provider ID of a node."""
    bodies = {kind: {key(body): body for body in of(kind)} for _, kind in REPORTS}

    def values(place: Place) -> tuple[str, dict[str, str]]:
        return place[1], dict(_values({kind: hosts[place] for kind, hosts in bodies.items() if place in hosts}))

    return values


def _values(reports: Mapping[str, Object]) -> Iterator[tuple[str, str]]:
    """Yield the values that a host reports; for several components of a kind, all their versions."""
    written = dig(reports.get(_HOST), "status", "provisioning", "image", "checksum")
    if written:
        yield "image_sha256", str(written)
    settings = dig(reports.get("HostFirmwareSettings"), "status", "settings") or {}
    yield from ((f"bios.{name}", str(value)) for name, value in settings.items())
    versions: dict[str, set[str]] = {}
    for entry in dig(reports.get("HostFirmwareComponents"), "status", "components") or []:
        component = str(entry["component"]).partition(":")[0]
        versions.setdefault(component, set()).add(str(entry.get("currentVersion") or entry["initialVersion"]))
    for component, numbers in versions.items():
        shown = ", ".join(sorted(numbers))
        yield f"firmware.{component}", shown
        if component == "nic":
            yield "nic_firmware", shown
