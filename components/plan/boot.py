"""How nodes boot: what each bare-metal backend can do with an image, and what a region must have for it."""

from __future__ import annotations

from components.specs.bare_metal import BareMetalBackend, BootMethod
from components.specs.catalog import BootMode, GoldenImage
from components.specs.environment import Environment
from components.specs.inventory import HostSpec

BOOTS = {
    BareMetalBackend.METAL3: (BootMode.DISK, BootMode.LIVE_ISO),
    BareMetalBackend.IRONCORE_METAL: (BootMode.NETBOOT,),
}
"""By backend, what it boots: Metal3 writes a disk or attaches an ISO, IronCore hands out a kernel at every boot."""
FIRST_REVISION = {BootMode.DISK: 1, BootMode.LIVE_ISO: 2, BootMode.NETBOOT: 1}
"""First template revision that knows how to boot so."""


def boot_objections(environment: Environment, image: GoldenImage, instance_type: str) -> list[str]:
    """Return why nodes of ``instance_type`` cannot boot ``image`` here, or cannot be relied on to join then."""
    backend = environment.region.bare_metal.backend
    if image.boot not in BOOTS[backend]:
        return [f"image {image.version} boots by {image.boot}, {backend} boots nodes by {' or '.join(BOOTS[backend])}"]
    if image.boot is not BootMode.LIVE_ISO:
        return []
    if environment.region.nodes.join_service is None:
        unproven = (
            f"image {image.version} boots by {image.boot}, which gives nodes no token, and is unproven here while"
            " region.yaml has no nodes.join_service"
        )
        return [unproven]
    hosts = [host for host in environment.hosts if host.instance_type == instance_type]
    without = [host for host in hosts if not _attaches(host)]
    if without:
        unfit = (
            f"image {image.version} boots by {image.boot}, which takes virtual media, and {len(without)} of"
            f" {len(hosts)} {instance_type} hosts have a driver without it, such as {without[0].host}"
            f" ({without[0].bmc})"
        )
        return [unfit]
    return []


def boot_method(host: HostSpec) -> BootMethod:
    """Return how ``host`` boots what provisions it, which its driver decides."""
    return BootMethod.VIRTUAL_MEDIA if _attaches(host) else BootMethod.NETWORK_BOOT


def _attaches(host: HostSpec) -> bool:
    """Tell whether the driver of ``host`` attaches media, which all such drivers say in the scheme of the address."""
    return "virtualmedia" in host.bmc.partition("://")[0]
