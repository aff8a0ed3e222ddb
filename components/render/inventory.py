"""Hosts of a hall: identity only, one set of objects a rack.

An assigned host lives in its cluster's namespace, since Metal3 looks for hosts there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from components.render import labels as keys
from components.render.dpus import NAMESPACE as DPUS
from components.render.manifest import Manifest, ManifestSet
from components.render.objects import LABEL_LIMIT, fit, manifest
from components.render.region import FREE_HOSTS
from components.specs.inventory import HostSpec

_DPU_NODE_LIMIT = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Whose a host is."""

    cluster: str
    pool: str
    vpc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedHost:
    """A host with what its instance type and the lock file say about it."""

    host: HostSpec
    failure_domain: str
    dpu_functions: int
    """Physical functions that the host sees of its DPU."""
    assignment: Assignment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryInput:
    """The hosts of one hall."""

    name: str
    hosts: tuple[PlacedHost, ...]
    """Hosts of a rack stand together."""


def render_inventory(inventory: InventoryInput) -> tuple[ManifestSet, ...]:
    """Return one set of objects a rack, in the order of the racks."""
    return tuple(_rack(rack, tuple(hosts)) for rack, hosts in groupby(inventory.hosts, lambda placed: placed.host.rack))


def _rack(rack: str, hosts: tuple[PlacedHost, ...]) -> ManifestSet:
    return ManifestSet(
        name=f"rack-{rack}",
        namespace=FREE_HOSTS,
        members={f"{placed.host.host}/{item.kind}": item for placed in hosts for item in _objects(placed)},
    )


def _objects(placed: PlacedHost) -> Iterator[Manifest]:
    yield _bare_metal_host(placed)
    yield _dpu_device(placed)
    yield _dpu_node(placed)


def _labels(placed: PlacedHost) -> dict[str, str]:
    host = placed.host
    return {
        keys.INSTANCE_TYPE: host.instance_type,
        keys.HALL: host.hall,
        keys.RACK: host.rack,
        keys.LEAF: host.leaf,
        keys.FAILURE_DOMAIN: placed.failure_domain,
    }


def _bare_metal_host(placed: PlacedHost) -> Manifest:
    host, owner = placed.host, placed.assignment
    return manifest(
        "metal3.io/v1alpha1",
        "BareMetalHost",
        host.host,
        namespace=FREE_HOSTS if owner is None else owner.cluster,
        labels={
            **_labels(placed),
            keys.FAILURE_DOMAIN_METAL3: placed.failure_domain,
            **({} if owner is None else {keys.CLUSTER: owner.cluster, keys.POOL: owner.pool}),
        },
        spec={
            "online": True,
            "bmc": {"address": host.bmc, "credentialsName": host.bmc_secret},
            "bootMACAddress": host.boot_mac,
            "bootMode": "UEFI",
            "automatedCleaningMode": "metadata",
        },
    )


def _dpu_device(placed: PlacedHost) -> Manifest:
    return manifest(
        "provisioning.dpu.nvidia.com/v1alpha1",
        "DPUDevice",
        _device_name(placed),
        namespace=DPUS,
        labels=_labels(placed),
        spec={"serialNumber": placed.host.dpu_serial, "numberOfPFs": placed.dpu_functions},
    )


def _dpu_node(placed: PlacedHost) -> Manifest:
    owner = placed.assignment
    return manifest(
        "provisioning.dpu.nvidia.com/v1alpha1",
        "DPUNode",
        fit(placed.host.host, _DPU_NODE_LIMIT),
        namespace=DPUS,
        labels={**_labels(placed), **({} if owner is None else {keys.TENANT_NETWORK: owner.vpc})},
        # Nobody reboots a host for its DPU's sake but the platform, when the host is empty.
        spec={"dpus": [{"name": _device_name(placed)}], "nodeRebootMethod": {"external": {}}},
    )


def _device_name(placed: PlacedHost) -> str:
    return fit(f"{placed.host.host}-dpu", LABEL_LIMIT)
