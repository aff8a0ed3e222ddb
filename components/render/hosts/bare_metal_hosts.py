"""Hosts for Metal3. An assigned host lives in its cluster's namespace, since Metal3 looks for hosts there only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from components.render import labels as keys
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest, Patch
from components.render.namespaces import FREE_HOSTS
from components.render.objects import given, manifest
from components.specs.base import bytes_of
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.pools.nodes import FirmwareUpdate

API = "metal3.io/v1alpha1"
GIBIBYTE = 1 << 30
_UNHEALTHY = {"capm3.metal3.io/unhealthy": ""}
"""Annotation that keeps Metal3 from claiming a host; a machine that runs there goes on."""
_WHEN = {FirmwareUpdate.ON_PREPARING: "onPreparing", FirmwareUpdate.ON_REBOOT: "onReboot"}


def render(placed: PlacedHost, updates: FirmwareUpdate) -> Iterator[Manifest]:
    """Yield the host that Metal3 provisions, and when it takes its firmware unless that is before its next image."""
    yield _host(placed)
    if placed.firmware is not None and updates is not FirmwareUpdate.ON_PREPARING:
        yield _update_policy(placed, updates)


def _host(placed: PlacedHost) -> Manifest:
    host, owner = placed.host, placed.owner
    return manifest(
        API,
        "BareMetalHost",
        host.host,
        namespace=_namespace(placed),
        annotations={**({} if placed.in_service else _UNHEALTHY), **placed.notes},
        labels={
            **placed.labels,
            **placed.condition,
            keys.FAILURE_DOMAIN_METAL3: placed.failure_domain,
            **({} if owner is None else {keys.CLUSTER: owner.cluster, keys.POOL: owner.pool}),
        },
        spec={
            "online": True,
            "bmc": {
                "address": host.bmc,
                "credentialsName": host.bmc_secret,
                **({"disableCertificateVerification": True} if placed.unverified else {}),
            },
            "bootMACAddress": host.boot_mac,
            "bootMode": "UEFI",
            "automatedCleaningMode": "metadata",
            **given(rootDeviceHints=placed.root_device and root_device_hints(placed.root_device)),
        },
    )


def root_device_hints(disk: RootDeviceSpec) -> dict[str, Any]:
    """Return the hints in Metal3's words; Ironic counts a disk in GiB, whatever the key is called."""
    return given(
        deviceName=disk.device_name,
        hctl=disk.hctl,
        model=disk.model,
        vendor=disk.vendor,
        minSizeGigabytes=disk.min_size and -(-bytes_of(disk.min_size) // GIBIBYTE),
        rotational=disk.rotational,
    )


def _update_policy(placed: PlacedHost, when: FirmwareUpdate) -> Manifest:
    """Return when the host takes new firmware, of which Metal3 itself makes the objects that say what."""
    spec: dict[str, Any] = dict.fromkeys(("firmwareSettings", "firmwareUpdates"), _WHEN[when])
    return manifest(
        API, "HostUpdatePolicy", placed.host.host, namespace=_namespace(placed), labels=placed.labels, spec=spec
    )


def patches(hosts: Iterable[PlacedHost]) -> Iterator[tuple[str, Patch]]:
    """Yield, by a stable key, the settings and versions that hosts of one namespace and one baseline have in common.

    Metal3 makes the objects that hold them, one of each kind a host, as soon as it knows the host's hardware.
    """
    alike: dict[tuple[str, str], tuple[Firmware, list[str]]] = {}
    for placed in hosts:
        if placed.firmware is not None:
            key = (_namespace(placed), placed.firmware.name)
            alike.setdefault(key, (placed.firmware, []))[1].append(placed.host.host)
    for (namespace, name), (baseline, names) in alike.items():
        for kind, spec in _firmware(baseline):
            patch = Patch(api_version=API, kind=kind, namespace=namespace, names=tuple(names), fields={"spec": spec})
            yield f"{namespace}/{name}/{kind}", patch


def _firmware(baseline: Firmware) -> Iterator[tuple[str, dict[str, Any]]]:
    if baseline.bios:
        yield "HostFirmwareSettings", {"settings": dict(baseline.bios)}
    if baseline.updates:
        updates = [{"component": name, "url": url} for name, url in baseline.updates.items()]
        yield "HostFirmwareComponents", {"updates": updates}


def _namespace(placed: PlacedHost) -> str:
    return FREE_HOSTS if placed.owner is None else placed.owner.cluster
