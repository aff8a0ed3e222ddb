"""Instance types and preferences of VMs. Names contain a digest of the content, so that objects are never edited."""

from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import digest, given, manifest
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_sizes import LEAST_WINDOWS_CPUS, LEAST_WINDOWS_MEMORY, VmSizeSpec

WINDOWS_SHUTDOWN_SECONDS = 3600
"""Time in which Windows may shut down, such as during an update; then the machine is killed."""
_API = "instancetype.kubevirt.io/v1beta1"
_LINUX: dict[str, Any] = {
    "devices": {"preferredDiskBus": "virtio", "preferredInterfaceModel": "virtio", "preferredRng": {}},
    "features": {"preferredAcpi": {}, "preferredSmm": {"enabled": True}},
    "firmware": {"preferredEfi": {"secureBoot": False}},
}


_WINDOWS: dict[str, Any] = {
    # Windows expects this clock and these timers from a hypervisor.
    "clock": {
        "preferredClockOffset": {"utc": {}},
        "preferredTimer": {
            "hpet": {"present": False},
            "hyperv": {},
            "pit": {"tickPolicy": "delay"},
            "rtc": {"tickPolicy": "catchup"},
        },
    },
    # Windows limits the number of sockets, but not of cores.
    "cpu": {"preferredCPUTopology": "cores"},
    "devices": {
        "preferredDiskBus": "virtio",
        "preferredInterfaceModel": "virtio",
        "preferredInputBus": "usb",
        "preferredInputType": "tablet",
        "preferredTPM": {"persistent": True},
    },
    "features": {
        "preferredAcpi": {},
        "preferredApic": {},
        "preferredHyperv": {
            **{name: {} for name in ("frequencies", "ipi", "relaxed", "reset", "runtime", "synic")},
            **{name: {} for name in ("tlbflush", "vapic", "vpindex")},
            "spinlocks": {"spinlocks": 8191},
            "synictimer": {"direct": {}},
        },
        "preferredSmm": {"enabled": True},
    },
    "firmware": {"preferredEfi": {"secureBoot": True, "persistent": True}},
    "preferredTerminationGracePeriodSeconds": WINDOWS_SHUTDOWN_SECONDS,
    "requirements": {"cpu": {"guest": LEAST_WINDOWS_CPUS}, "memory": {"guest": LEAST_WINDOWS_MEMORY}},
}
_PREFERENCES = {GuestSystem.LINUX: _LINUX, GuestSystem.WINDOWS: _WINDOWS}


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


def preference(cluster: str, system: GuestSystem = GuestSystem.LINUX) -> Manifest:
    """Return the preference of guests that run ``system`` in ``cluster``."""
    spec = _PREFERENCES[system]
    return manifest(
        _API,
        "VirtualMachineClusterPreference",
        f"{system}-{digest(spec, 6)}",
        cluster=cluster,
        retain=True,
        spec=spec,
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
