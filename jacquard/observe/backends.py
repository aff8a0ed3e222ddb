"""Reads the status of a region from the objects of each backend; each entry contains all code specific to one backend.

Cluster API's own objects (Cluster, MachineDeployment, MachineSet, Machine) are the same in all backends.
"""

from collections.abc import Callable, Iterator, Mapping

from components.render.pools import ironcore_metal, metal3
from components.reports.enrolment.report import LiveHost
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import Struct
from jacquard.observe import ironcore_hardware, ironcore_servers, metal3_hardware
from jacquard.observe.objects import UNKNOWN, Kind, Object, Objects, Place, Report, key
from jacquard.providers.kube.objects import dig

_API = "metal3.io/v1alpha1"
_HOST = "BareMetalHost"
HOSTS = ((_API, _HOST),)
REPORTS = (*HOSTS, (_API, "HostFirmwareSettings"), (_API, "HostFirmwareComponents"))


def image(template: Object) -> str | None:
    """Return the SHA-256 of the image in a Metal3MachineTemplate; rendered templates use no other checksum type."""
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
    """Yield the values that a host reports; for several components of one kind, all versions."""
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


_K0S = "k0s"


class ControlPlanes(Struct):
    """Control planes of a backend, and the nodes that join these control planes."""

    kind: Kind
    """Object with the cluster's name and namespace, whose ``status.version`` is the minimum version of its pods."""
    kubernetes: Callable[[str], str]
    """Converts the Kubernetes version of a control plane or a node to the form of the data."""


class BareMetal(Struct):
    """Hosts of a backend, and the machines on them."""

    machine: Kind
    """Kind of a Machine's infrastructure object, which is cloned from a template."""
    template: Kind
    image: Callable[[Object], str | None]
    """Returns the SHA-256 of the image in a template, in hex."""
    hosts: tuple[Kind, ...]
    """Kinds that `states` reads."""
    states: Callable[[Objects], Iterator[tuple[str, str]]]
    """Yields each host with its state, in the terms of the backend."""
    reports: tuple[Kind, ...]
    """Kinds that `report` reads."""
    provider: str
    """Prefix of the nodes' provider IDs; two segments follow."""
    report: Callable[[Objects], Report]
    """Returns a function that maps the two segments to the host of a node and the values that the host reports."""
    inspections: tuple[Kind, ...]
    """Kinds that `inspected` reads."""
    inspected: Callable[[Objects, Report], Iterator[LiveHost]]
    """Yields all hosts and BMCs with their inspected hardware; the second argument is a result of `report`."""


CONTROL_PLANES = {
    ControlPlaneBackend.KAMAJI: ControlPlanes(
        kind=("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane"),
        kubernetes=lambda version: version,
    ),
    ControlPlaneBackend.K0SMOTRON: ControlPlanes(
        kind=("controlplane.cluster.x-k8s.io/v1beta2", "K0smotronControlPlane"),
        # A version is v1.35.2-k0s.0 in a control plane, but v1.35.2+k0s in a kubelet.
        kubernetes=lambda version: version.partition(_K0S)[0].rstrip("+-"),
    ),
}
BARE_METAL = {
    BareMetalBackend.METAL3: BareMetal(
        machine=(metal3.API, "Metal3Machine"),
        template=metal3.MACHINE_TEMPLATE,
        image=image,
        hosts=HOSTS,
        states=states,
        reports=REPORTS,
        provider="metal3://",
        report=report,
        inspections=metal3_hardware.KINDS,
        inspected=metal3_hardware.hosts,
    ),
    BareMetalBackend.IRONCORE_METAL: BareMetal(
        machine=(ironcore_metal.API, "IroncoreMetalMachine"),
        template=ironcore_metal.MACHINE_TEMPLATE,
        image=ironcore_servers.image,
        hosts=ironcore_servers.HOSTS,
        states=ironcore_servers.states,
        reports=ironcore_servers.REPORTS,
        provider="metal://",
        report=ironcore_servers.report,
        inspections=ironcore_hardware.KINDS,
        inspected=ironcore_hardware.hosts,
    ),
}


def control_planes(environment: Environment) -> ControlPlanes:
    """Return the entry of the control plane backend of ``environment``."""
    return CONTROL_PLANES[environment.region.control_planes.backend]


def bare_metal(environment: Environment) -> BareMetal:
    """Return the entry of the bare-metal backend of ``environment``."""
    return BARE_METAL[environment.region.bare_metal.backend]
