"""Base configuration of a DPU as a DPUFlavor of DPF: firmware, kernel, files and switch.

A service chain connects scalable functions (SFs) and ports of the switch. The firmware must provide the SFs, and the
switch requires huge pages. A DPU without SFs or huge pages is flashed but cannot run services. The settings are from
the flavor in upstream's HBN guide for zero trust (DPF:docs/public/user-guides/zero-trust/use-cases/hbn).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.render.manifest import Json
from components.render.objects import given

HUGE_PAGES, HUGE_PAGE_KIB = 3072, 2048
"""Huge pages for the switch, 6 GiB. A DPU does not boot if they exceed its memory (doca-platform issue 17)."""
SCALABLE_FUNCTIONS = 20
"""Number of SFs per physical function. HBN uses one SF for each of its ports."""
CHAIN_BRIDGE, HBN_BRIDGE = "br-sfc", "br-hbn"
"""Bridge names required by DPF's service chains and by HBN."""
UPLINKS = ("p0", "p1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """Physical port of the switch."""

    name: str
    mtu_bytes: int
    """MTU in bytes."""

    def commands(self, bridge: str) -> Iterator[str]:
        """Yield the ovs-vsctl commands that add the port to ``bridge``."""
        yield f"--may-exist add-port {bridge} {self.name}"
        yield f"set Interface {self.name} type=dpdk"
        yield f"set Interface {self.name} mtu_request={self.mtu_bytes}"
        yield f"set Port {self.name} external_ids:dpf-type=physical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """Bridge that drops packets without a matching flow (``fail_mode=secure``)."""

    name: str
    ports: tuple[Port, ...] = ()

    def commands(self) -> Iterator[str]:
        """Yield the ovs-vsctl commands that create the bridge."""
        yield f"--may-exist add-br {self.name}"
        yield f"set Bridge {self.name} datapath_type=netdev"
        yield f"set Bridge {self.name} fail_mode=secure"
        for port in self.ports:
            yield from port.commands(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Open vSwitch of a DPU."""

    settings: Mapping[str, str]
    """``other_config`` of the switch, which Open vSwitch reads at startup."""
    replaced: tuple[str, ...]
    """Default bridges of the image, which the script deletes."""
    bridges: tuple[Bridge, ...]

    def script(self) -> str:
        """Return the shell script that DPF runs on the DPU: settings, restart, then bridges."""
        before = [f"--if-exists del-br {name}" for name in self.replaced]
        before += [f"set Open_vSwitch . other_config:{key}={value}" for key, value in self.settings.items()]
        after = [command for bridge in self.bridges for command in bridge.commands()]
        restart = "systemctl restart openvswitch-switch || systemctl restart openvswitch"
        lines = [*map(_vsctl, before), restart, *map(_vsctl, after)]
        return "".join(f"{line}\n" for line in lines)


def _vsctl(command: str) -> str:
    return f"ovs-vsctl --timeout=15 {command}"


def flavor(*, virtual_functions: int, mtu_bytes: int, uplink_mtu_bytes: int, mirror: str | None) -> Json:
    """Return ``DPUFlavor.spec``.

    Args:
        virtual_functions: number of virtual functions per physical function, for the host.
        mtu_bytes: MTU of the host's ports.
        uplink_mtu_bytes: MTU of the ports to leaf switches.
        mirror: registry mirror for container images; None without a mirror.
    """
    ports = tuple(Port(name=name, mtu_bytes=uplink_mtu_bytes) for name in UPLINKS)
    switch = Switch(
        settings=_SWITCH,
        replaced=("ovsbr1", "ovsbr2"),
        bridges=(Bridge(name=CHAIN_BRIDGE, ports=ports), Bridge(name=HBN_BRIDGE)),
    )
    firmware = {**_FIRMWARE, "NUM_OF_VFS": str(virtual_functions)}
    return {
        "dpuMode": "zero-trust",
        "bfcfgParameters": ["UPDATE_ATF_UEFI=yes", "UPDATE_DPU_OS=yes", "WITH_NIC_FW_UPDATE=yes"],
        "configFiles": [_file(path, settings) for path, settings in _FILES.items()],
        "grub": {"kernelParameters": list(_KERNEL)},
        "nvconfig": [{"device": "*", "parameters": [f"{key}={value}" for key, value in firmware.items()]}],
        "ovs": {"rawConfigScript": switch.script()},
        "hostNetworkInterfaceConfigs": [
            {"portNumber": number, "dhcp": True, "mtu": mtu_bytes} for number, _ in enumerate(UPLINKS)
        ],
        **given(containerdConfig=given(registryEndpoint=mirror and f"https://{mirror}")),
    }


def _file(path: str, settings: Mapping[str, str]) -> Json:
    raw = "".join(f'{key}="{value}"\n' for key, value in settings.items())
    return {"path": path, "operation": "override", "permissions": "0644", "raw": raw}


_FIRMWARE: Mapping[str, str] = {
    # Each SF uses a separate part of the device memory (BAR 0) of 2^10 KiB, instead of a second BAR.
    "PF_BAR2_ENABLE": "0",
    "PER_PF_NUM_SF": "1",
    "PF_TOTAL_SF": str(SCALABLE_FUNCTIONS),
    "PF_SF_BAR_SIZE": "10",
    "NUM_PF_MSIX_VALID": "0",
    "PF_NUM_PF_MSIX_VALID": "1",
    "PF_NUM_PF_MSIX": "228",
    # The CPU of the DPU owns the ports.
    "INTERNAL_CPU_MODEL": "1",
    "INTERNAL_CPU_OFFLOAD_ENGINE": "0",
    "SRIOV_EN": "1",
    "LAG_RESOURCE_ALLOCATION": "1",
    "LINK_TYPE_P1": "ETH",
    "LINK_TYPE_P2": "ETH",
}
_KERNEL = (
    "console=hvc0",
    "console=ttyAMA0",
    "earlycon=pl011,0x13010000",
    "fixrttc",
    "net.ifnames=0",
    "biosdevname=0",
    "iommu.passthrough=1",
    "cgroup_no_v1=net_prio,net_cls",
    f"hugepagesz={HUGE_PAGE_KIB}kB",
    f"hugepages={HUGE_PAGES}",
)
_FILES: Mapping[str, Mapping[str, str]] = {
    # Both ports are on one switch, because HBN balances traffic between both ports.
    "/etc/mellanox/mlnx-bf.conf": {
        "ALLOW_SHARED_RQ": "no",
        "IPSEC_FULL_OFFLOAD": "no",
        "ENABLE_ESWITCH_MULTIPORT": "yes",
    },
    "/etc/mellanox/mlnx-ovs.conf": {"CREATE_OVS_BRIDGES": "no", "OVS_DOCA": "yes"},
    "/etc/mellanox/mlnx-sf.conf": {},  # Default SFs of the image would conflict with the SFs of services.
}
_SWITCH: Mapping[str, str] = {
    "doca-init": "true",
    "dpdk-max-memzones": "50000",
    "hw-offload": "true",
    "pmd-quiet-idle": "true",
    "max-idle": "20000",
    "max-revalidator": "5000",
}
