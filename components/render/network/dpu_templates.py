"""Templates for flashing DPUs, by revision: image (BFB), flavor and secure boot. Revisions are frozen.

A changed template causes a flash of the DPU and a reboot of its host. Improvements therefore require a new revision,
and existing revisions stay byte-identical. DPUs get the new revision with their next promotion.
"""

from collections.abc import Callable
from functools import partial

from components.render.manifest import Json
from components.render.network.dpu_flavor import REVISION_1, REVISION_2, Settings, flavor
from components.render.objects import digest
from components.render.revision_needs import Need
from components.specs.pools.intents import DpuIntent
from components.specs.struct import Struct

_DIGITS = 10


class DpuTemplates(Struct):
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


def newest() -> int:
    """Return the revision of new intents."""
    return max(REVISIONS)


def _built(settings: Settings, intent: DpuIntent) -> DpuTemplates:
    spec = flavor(
        settings,
        virtual_functions=intent.virtual_functions,
        mtu_bytes=intent.mtu_bytes,
        uplink_mtu_bytes=intent.uplink_mtu_bytes,
        mirror=intent.mirror,
    )
    # A changed mirror creates a new image object; the object from which DPUs were flashed is kept.
    bfb_name = f"{intent.image}-{digest(_bfb(intent, intent.image), _DIGITS)}"
    return DpuTemplates(
        bfb_name=bfb_name,
        bfb=_bfb(intent, bfb_name),
        flavor_name=f"zero-trust-{digest(spec, _DIGITS)}",
        flavor=spec,
        secure_boot=True,
    )


def _bfb(intent: DpuIntent, name: str) -> Json:
    return {
        "url": intent.url,
        "fileName": f"{name}.bfb",
        "versions": {"bsp": intent.bsp, "doca": intent.doca, "uefi": intent.uefi, "atf": intent.atf},
    }


REVISIONS: dict[int, Callable[[DpuIntent], DpuTemplates]] = {
    1: partial(_built, REVISION_1),
    2: partial(_built, REVISION_2),
}
"""Functions that build templates of DPUs, by revision."""
CHANGES: dict[int, str] = {
    2: "flavor of DPF 26.4.1: 500 MB of huge pages instead of 6 GiB, a clean switch, and rotation of HBN's logs",
}
"""Improvement of each revision over the previous one, by revision, as one line for ``show ENV images``."""
NEEDS: tuple[Need[DpuIntent], ...] = ()
"""Intents whose DPUs do not work with older revisions. ``check`` rejects such pins until they are promoted."""
