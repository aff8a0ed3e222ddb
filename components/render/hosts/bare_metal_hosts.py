"""Hosts for Metal3. An assigned host is in its cluster's namespace, because Metal3 searches hosts only there."""

from collections.abc import Iterable, Iterator
from typing import Any

from components.render import labels as keys
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest, Patch
from components.render.namespaces import FREE_HOSTS
from components.render.objects import given, manifest
from components.specs.base import GIBIBYTE, bytes_of
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.instance_types import Architecture
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.pools.nodes import FirmwareUpdate

API = "metal3.io/v1alpha1"
MACHINES = {Architecture.AMD64: "x86_64", Architecture.ARM64: "aarch64"}
"""Architectures in the notation of Metal3 and Ironic."""
_UNHEALTHY = {"capm3.metal3.io/unhealthy": "capm3/UnhealthyNode"}
"""Annotation that prevents Metal3 from claiming a host. A machine that already runs on the host is not affected. Metal3
writes the same value after the last reboot of a failed repair
(metal3-io/cluster-api-provider-metal3:baremetal/metal3remediation_manager.go, SetUnhealthyAnnotation), so that the move
of this host to ``triage`` is not rejected as a field conflict."""
_UPDATE_TIMES = {FirmwareUpdate.ON_PREPARING: "onPreparing", FirmwareUpdate.ON_REBOOT: "onReboot"}


def render(placed: PlacedHost, updates: FirmwareUpdate) -> Iterator[Manifest]:
    """Yield the host, and its firmware update policy unless firmware is updated only before the next image."""
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
            # Without it, a host is assumed to have the architecture of the bare-metal operator until its inspection.
            "architecture": MACHINES[placed.architecture],
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
    """Return the root device hints of Metal3. Ironic expects the size in GiB, despite the name of the key."""
    return given(
        deviceName=disk.device_name,
        hctl=disk.hctl,
        model=disk.model,
        vendor=disk.vendor,
        minSizeGigabytes=disk.min_size and -(-bytes_of(disk.min_size) // GIBIBYTE),
        rotational=disk.rotational,
    )


def _update_policy(placed: PlacedHost, when: FirmwareUpdate) -> Manifest:
    """Return the policy for the time of firmware updates. Metal3 creates the objects with the firmware settings."""
    spec: dict[str, Any] = dict.fromkeys(("firmwareSettings", "firmwareUpdates"), _UPDATE_TIMES[when])
    return manifest(
        API, "HostUpdatePolicy", placed.host.host, namespace=_namespace(placed), labels=placed.labels, spec=spec
    )


def patches(hosts: Iterable[PlacedHost]) -> Iterator[tuple[str, Patch]]:
    """Yield patches with firmware settings and versions, by a stable key, one per kind, namespace and baseline.

    Metal3 creates the patched objects, one of each kind per host, after inspection of the host.
    """
    groups: dict[tuple[str, str], tuple[Firmware, list[str]]] = {}
    for placed in hosts:
        if placed.firmware is not None:
            key = (_namespace(placed), placed.firmware.name)
            groups.setdefault(key, (placed.firmware, []))[1].append(placed.host.host)
    for (namespace, name), (baseline, names) in groups.items():
        for kind, spec, unless in _firmware(baseline):
            patch = Patch(
                api_version=API,
                kind=kind,
                namespace=namespace,
                names=tuple(names),
                fields={"spec": spec},
                unless=unless,
            )
            yield f"{namespace}/{name}/{kind}", patch


def _firmware(baseline: Firmware) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """Yield the kind and spec of the firmware objects, and the report that makes the patch unnecessary.

    Metal3 compares updates only with those that it applied earlier, never with the reported versions. A host in a new
    namespace has new objects, so without this comparison its firmware would be written again
    (metal3-io/baremetal-operator:internal/controller/metal3.io/baremetalhost_controller.go).

    Settings that a host already has must not be written to its object: Metal3 would not record the new generation of an
    object that then requires no change, and without this record it provisions the host never again
    (hostfirmwaresettings_controller.go, setCondition; metal3-io/baremetal-operator#3143).
    """
    if baseline.bios:
        reported = {name: str(value) for name, value in baseline.bios.items()}
        yield "HostFirmwareSettings", {"settings": dict(baseline.bios)}, {"status": {"settings": reported}}
    if baseline.updates:
        updates = [{"component": name, "url": url} for name, url in baseline.updates.items()]
        versions = [
            {"component": name, "currentVersion": baseline.components[name].version} for name in baseline.updates
        ]
        yield "HostFirmwareComponents", {"updates": updates}, {"status": {"components": versions}}


def _namespace(placed: PlacedHost) -> str:
    return FREE_HOSTS if placed.owner is None else placed.owner.cluster
