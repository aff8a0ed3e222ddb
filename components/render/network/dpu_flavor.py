"""Base configuration of a DPU as a DPUFlavor of DPF: firmware, kernel, files and switch.

A service chain connects scalable functions (SFs) and ports of the switch. The firmware must provide the SFs, and the
switch requires huge pages. A DPU without SFs or huge pages is flashed but cannot run services. The settings are from
the flavors in upstream's guides for HBN and OVN in zero trust (DPF:docs/public/user-guides/zero-trust/use-cases).
"""

from collections.abc import Iterator, Mapping

from components.render.manifest import Json
from components.render.objects import given
from components.specs.struct import Struct

HUGE_PAGE_KIB = 2048
SCALABLE_FUNCTIONS = 20
"""Number of SFs per physical function. HBN uses one SF for each of its ports."""
CHAIN_BRIDGE, HBN_BRIDGE = "br-sfc", "br-hbn"
"""Bridge names required by DPF's service chains and by HBN."""
UPLINKS = ("p0", "p1")


class Port(Struct):
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


class Bridge(Struct):
    """Bridge that drops packets without a matching flow (``fail_mode=secure``)."""

    name: str
    ports: tuple[Port, ...] = ()
    recreated: bool = False
    """Whether an existing bridge is deleted first, with all its ports."""

    def commands(self) -> Iterator[str]:
        """Yield the ovs-vsctl commands that create the bridge."""
        if self.recreated:
            yield f"--if-exists del-br {self.name}"
        yield f"--may-exist add-br {self.name}"
        yield f"set Bridge {self.name} datapath_type=netdev"
        yield f"set Bridge {self.name} fail_mode=secure"
        for port in self.ports:
            yield from port.commands(self.name)


class Switch(Struct):
    """Open vSwitch of a DPU."""

    settings: Mapping[str, str]
    """``other_config`` of the switch, which Open vSwitch reads at startup."""
    replaced: tuple[str, ...]
    """Default bridges of the image, which the script deletes."""
    bridges: tuple[Bridge, ...]
    kernel_leftovers: bool = False
    """Whether the script deletes the kernel datapath of the image and the setting that creates it again."""

    def script(self) -> str:
        """Return the shell script that DPF runs on the DPU: settings, restart, then bridges."""
        deleted = [f"--if-exists del-br {name}" for name in self.replaced]
        changed = [f"set Open_vSwitch . other_config:{key}={value}" for key, value in self.settings.items()]
        after = [command for bridge in self.bridges for command in bridge.commands()]
        kernel, datapath = ([_DELETE_KERNEL_DATAPATH], [_REMOVE_DATAPATH]) if self.kernel_leftovers else ([], [])
        restart = "systemctl restart openvswitch-switch || systemctl restart openvswitch"
        lines = [*map(_vsctl, deleted), *kernel, *map(_vsctl, changed), *datapath, restart, *map(_vsctl, after)]
        return "".join(f"{line}\n" for line in lines)


class Settings(Struct):
    """Settings that a template revision defines. The settings of an existing revision never change."""

    kernel: tuple[str, ...]
    """Kernel parameters, without huge pages."""
    huge_pages: int
    """Huge pages for the switch. A DPU does not boot if they exceed its memory (doca-platform issue 17)."""
    files: Mapping[str, str]
    """Content of files on the DPU, by path."""
    clean_switch: bool
    """Whether leftovers of the image and of an earlier run of the script are deleted: the kernel datapath, and the
    bridge of HBN. Ports of both would block the ports that the script adds."""


def _vsctl(command: str) -> str:
    return f"ovs-vsctl --timeout=15 {command}"


def flavor(
    settings: Settings, *, virtual_functions: int, mtu_bytes: int, uplink_mtu_bytes: int, mirror: str | None
) -> Json:
    """Return ``DPUFlavor.spec``.

    Args:
        settings: settings of the template revision.
        virtual_functions: number of virtual functions per physical function, for the host.
        mtu_bytes: MTU of the host's ports.
        uplink_mtu_bytes: MTU of the ports to leaf switches.
        mirror: registry mirror for container images; None without a mirror.
    """
    ports = tuple(Port(name=name, mtu_bytes=uplink_mtu_bytes) for name in UPLINKS)
    switch = Switch(
        settings=_SWITCH,
        replaced=("ovsbr1", "ovsbr2"),
        bridges=(Bridge(name=CHAIN_BRIDGE, ports=ports), Bridge(name=HBN_BRIDGE, recreated=settings.clean_switch)),
        kernel_leftovers=settings.clean_switch,
    )
    firmware = {**_FIRMWARE, "NUM_OF_VFS": str(virtual_functions)}
    huge_pages = (f"hugepagesz={HUGE_PAGE_KIB}kB", f"hugepages={settings.huge_pages}")
    return {
        "dpuMode": "zero-trust",
        "bfcfgParameters": ["UPDATE_ATF_UEFI=yes", "UPDATE_DPU_OS=yes", "WITH_NIC_FW_UPDATE=yes"],
        "configFiles": [_file(path, raw) for path, raw in settings.files.items()],
        "grub": {"kernelParameters": [*settings.kernel, *huge_pages]},
        "nvconfig": [{"device": "*", "parameters": [f"{key}={value}" for key, value in firmware.items()]}],
        "ovs": {"rawConfigScript": switch.script()},
        "hostNetworkInterfaceConfigs": [
            {"portNumber": number, "dhcp": True, "mtu": mtu_bytes} for number, _ in enumerate(UPLINKS)
        ],
        **given(containerdConfig=given(registryEndpoint=mirror and f"https://{mirror}")),
    }


def _file(path: str, raw: str) -> Json:
    return {"path": path, "operation": "override", "permissions": "0644", "raw": raw}


def _assignments(values: Mapping[str, str]) -> str:
    """Return the content of a configuration file with shell assignments."""
    return "".join(f'{key}="{value}"\n' for key, value in values.items())


def _rules(*rules: str) -> str:
    """Return the content of a local extension of an AppArmor profile."""
    return "".join(f"{rule},\n" for rule in rules)


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
    "net.ifnames=0",
    "biosdevname=0",
    "iommu.passthrough=1",
    "cgroup_no_v1=net_prio,net_cls",
)
_FILES: Mapping[str, str] = {
    # Both ports are on one switch, because HBN balances traffic between both ports.
    "/etc/mellanox/mlnx-bf.conf": _assignments(
        {"ALLOW_SHARED_RQ": "no", "IPSEC_FULL_OFFLOAD": "no", "ENABLE_ESWITCH_MULTIPORT": "yes"}
    ),
    "/etc/mellanox/mlnx-ovs.conf": _assignments({"CREATE_OVS_BRIDGES": "no", "OVS_DOCA": "yes"}),
    "/etc/mellanox/mlnx-sf.conf": "",  # Default SFs of the image would conflict with the SFs of services.
}
_SIGNALS = "signal (receive) peer=runc"
"""AppArmor rule with which the container runtime may stop a process of HBN that has a profile of the DPU."""
_APPARMOR: Mapping[str, str] = {
    # HBN's rsyslogd runs logrotate. HBN 3.4 no longer disables the DPU's profiles: without these permissions it cannot
    # rotate the log that confirms its settings, and restarts (dsx-ai-factory/infra-controller issue 5657).
    "/etc/apparmor.d/local/usr.sbin.rsyslogd": _rules(
        _SIGNALS, "capability chown", "/etc/logrotate.d/* rk", "/usr/{bin,sbin}/* ixr", "/var/lib/logrotate/{,**} rwk"
    ),
    "/etc/apparmor.d/local/usr.bin.tcpdump": _rules(_SIGNALS),
}
_SWITCH: Mapping[str, str] = {
    "doca-init": "true",
    "dpdk-max-memzones": "50000",
    "hw-offload": "true",
    "pmd-quiet-idle": "true",
    "max-idle": "20000",
    "max-revalidator": "5000",
}
_DELETE_KERNEL_DATAPATH = "ovs-appctl --timeout=15 dpctl/del-dp system@ovs-system || true"
_REMOVE_DATAPATH = f"{_vsctl('remove Open_vSwitch . other_config default-datapath-type')} || true"
REVISION_1 = Settings(kernel=(*_KERNEL[:3], "fixrttc", *_KERNEL[3:]), huge_pages=3072, files=_FILES, clean_switch=False)
REVISION_2 = Settings(kernel=_KERNEL, huge_pages=250, files={**_FILES, **_APPARMOR}, clean_switch=True)
"""Settings of upstream's guide of DPF 26.4.1 (DPF:docs/public/release-notes/v26.4.1.md): the switch needs 500 MB."""
