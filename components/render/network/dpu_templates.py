"""Templates from which DPUs are flashed, by revision: image (BFB), flavor and secure boot. Revisions are frozen.

A change of a template flashes the DPU again and reboots its host. Improvements therefore get a new revision, and
existing revisions stay byte-identical. DPUs get the new revision with their next promotion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from components.render.manifest import Json
from components.render.network.dpu_flavor import flavor
from components.render.objects import digest, given
from components.specs.pools.intents import DpuIntent

_HOST_PORTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DpuTemplates:
    """BFB and DPUFlavor to which a DPUDeployment refers by name; both are immutable in DPF."""

    bfb_name: str
    bfb: Json
    """``BFB.spec``."""
    flavor_name: str
    flavor: Json
    """``DPUFlavor.spec``."""
    secure_boot: bool
    """``DPUDeployment.spec.dpus.secureBoot``, which is immutable on a DPU as well."""


def templates(intent: DpuIntent) -> DpuTemplates:
    """Return the templates of DPUs with ``intent``."""
    return REVISIONS[intent.revision](intent)


def _revision_1(intent: DpuIntent) -> DpuTemplates:
    return _named(intent, intent.image, _flavor(intent))


def _revision_2(intent: DpuIntent) -> DpuTemplates:
    # An image that moved to another mirror is a new object; the object that DPUs were flashed from is kept.
    return _named(intent, f"{intent.image}-{digest(_bfb(intent, intent.image), 10)}", _flavor(intent))


def _revision_3(intent: DpuIntent) -> DpuTemplates:
    # Flavors of earlier revisions had no SFs, no huge pages and no switch, so no service could run.
    complete = flavor(
        virtual_functions=intent.virtual_functions,
        mtu_bytes=intent.mtu_bytes,
        uplink_mtu_bytes=intent.uplink_mtu_bytes,
        mirror=intent.mirror,
    )
    return _named(intent, f"{intent.image}-{digest(_bfb(intent, intent.image), 10)}", complete)


def _named(intent: DpuIntent, bfb_name: str, flavor: Json) -> DpuTemplates:
    return DpuTemplates(
        bfb_name=bfb_name,
        bfb=_bfb(intent, bfb_name),
        flavor_name=f"zero-trust-{digest(flavor, 10)}",
        flavor=flavor,
        secure_boot=True,
    )


def _bfb(intent: DpuIntent, name: str) -> Json:
    return {
        "url": intent.url,
        "fileName": f"{name}.bfb",
        "versions": {"bsp": intent.bsp, "doca": intent.doca, "uefi": intent.uefi, "atf": intent.atf},
    }


def _flavor(intent: DpuIntent) -> Json:
    mtu = intent.mtu_bytes
    registry = None if intent.mirror is None else {"registryEndpoint": f"https://{intent.mirror}"}
    return {
        "dpuMode": "zero-trust",
        "bfcfgParameters": ["UPDATE_ATF_UEFI=yes", "UPDATE_DPU_OS=yes", "WITH_NIC_FW_UPDATE=yes"],
        "grub": {"kernelParameters": ["console=hvc0", "console=ttyAMA0", "net.ifnames=0", "biosdevname=0"]},
        "nvconfig": [
            {
                "device": "*",
                "parameters": [
                    "INTERNAL_CPU_MODEL=1",
                    "INTERNAL_CPU_OFFLOAD_ENGINE=0",
                    "LINK_TYPE_P1=ETH",
                    "LINK_TYPE_P2=ETH",
                    "SRIOV_EN=1",
                    f"NUM_OF_VFS={intent.virtual_functions}",
                ],
            }
        ],
        "hostNetworkInterfaceConfigs": [{"portNumber": port, "dhcp": True, "mtu": mtu} for port in range(_HOST_PORTS)],
        **given(containerdConfig=registry),
    }


REVISIONS: dict[int, Callable[[DpuIntent], DpuTemplates]] = {1: _revision_1, 2: _revision_2, 3: _revision_3}
NEWEST = max(REVISIONS)
"""Revision of a new intent."""
KNOWS_UPLINKS = 3
"""First revision that renders the uplink settings of an intent."""
