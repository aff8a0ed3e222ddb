"""Sizes of VMs and the defaults of their guests: objects called after their content, which nobody edits in place."""

from __future__ import annotations

from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import digest, given, manifest
from components.specs.vm_sizes import VmSizeSpec

_API = "instancetype.kubevirt.io/v1beta1"
_LINUX: dict[str, Any] = {
    "devices": {"preferredDiskBus": "virtio", "preferredInterfaceModel": "virtio", "preferredRng": {}},
    "features": {"preferredAcpi": {}, "preferredSmm": {"enabled": True}},
    "firmware": {"preferredEfi": {"secureBoot": False}},
}


def instancetype(cluster: str, size: VmSizeSpec) -> Manifest:
    """Return the instance type of ``size`` in ``cluster``."""
    spec = {"cpu": _cpu(size), "memory": _memory(size), **given(gpus=_gpus(size))}
    return manifest(
        _API,
        "VirtualMachineClusterInstancetype",
        f"{size.name}-{digest(spec, 6)}",
        labels={keys.VM_SIZE: size.name},
        cluster=cluster,
        retain=True,
        spec=spec,
    )


def linux(cluster: str) -> Manifest:
    """Return the preference of guests that run Linux in ``cluster``."""
    return manifest(
        _API,
        "VirtualMachineClusterPreference",
        f"linux-{digest(_LINUX, 6)}",
        cluster=cluster,
        retain=True,
        spec=_LINUX,
    )


def _cpu(size: VmSizeSpec) -> dict[str, Any]:
    return {
        "guest": size.cpus,
        **given(
            dedicatedCPUPlacement=size.dedicated_cpus or None,
            isolateEmulatorThread=size.emulator_cpu or None,
        ),
        **({"numa": {"guestMappingPassthrough": {}}} if size.numa else {}),
    }


def _memory(size: VmSizeSpec) -> dict[str, Any]:
    pages = {"pageSize": size.huge_pages.value} if size.huge_pages is not None else None
    return {"guest": size.memory, **given(hugepages=pages)}


def _gpus(size: VmSizeSpec) -> list[dict[str, str]]:
    if size.gpu is None:
        return []
    return [{"name": f"gpu{number}", "deviceName": size.gpu.device} for number in range(size.gpu.count)]
