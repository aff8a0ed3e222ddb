"""What the objects of each backend say, for whoever looks at a region: one entry a backend, and nothing elsewhere.

Cluster API's own objects (Cluster, MachineDeployment, MachineSet, Machine) read the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from components.render.pools import ironcore_metal, metal3
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend
from jacquard.observe import ironcore_servers, metal3_hosts
from jacquard.observe.objects import Kind, Object, Objects, Report

_K0S = "k0s"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlanes:
    """Control planes of one backend, and nodes that join them."""

    kind: Kind
    """An object of the cluster's name and namespace, whose ``status.version`` is what all its pods run at least."""
    kubernetes: Callable[[str], str]
    """Returns the Kubernetes version, as the data writes it, in one that a control plane or a node says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BareMetal:
    """Hosts of one backend, and machines on them."""

    machine: Kind
    """What a Machine refers to as its infrastructure; cloned from a template."""
    template: Kind
    image: Callable[[Object], str | None]
    """Returns the SHA-256 of the image in a template, in hex."""
    hosts: tuple[Kind, ...]
    """What `states` reads."""
    states: Callable[[Objects], Iterator[tuple[str, str]]]
    """Yields each host with its state, in the backend's own words."""
    reports: tuple[Kind, ...]
    """What `report` reads."""
    provider: str
    """How provider IDs of its nodes begin; then come two segments."""
    report: Callable[[Objects], Report]
    """Returns what tells, by those two segments, which host a node runs on and what the host says of itself."""


CONTROL_PLANES = {
    ControlPlaneBackend.KAMAJI: ControlPlanes(
        kind=("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane"),
        kubernetes=lambda version: version,
    ),
    ControlPlaneBackend.K0SMOTRON: ControlPlanes(
        kind=("controlplane.cluster.x-k8s.io/v1beta2", "K0smotronControlPlane"),
        # v1.35.2-k0s.0 of a control plane, v1.35.2+k0s of a kubelet.
        kubernetes=lambda version: version.partition(_K0S)[0].rstrip("+-"),
    ),
}
BARE_METAL = {
    BareMetalBackend.METAL3: BareMetal(
        machine=(metal3.API, "Metal3Machine"),
        template=metal3.MACHINE_TEMPLATE,
        image=metal3_hosts.image,
        hosts=metal3_hosts.HOSTS,
        states=metal3_hosts.states,
        reports=metal3_hosts.REPORTS,
        provider="metal3://",
        report=metal3_hosts.report,
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
    ),
}


def control_planes(environment: Environment) -> ControlPlanes:
    """Return the entry of what hosts the control planes of ``environment``."""
    return CONTROL_PLANES[environment.region.control_planes.backend]


def bare_metal(environment: Environment) -> BareMetal:
    """Return the entry of what provisions the hosts of ``environment``."""
    return BARE_METAL[environment.region.bare_metal.backend]
