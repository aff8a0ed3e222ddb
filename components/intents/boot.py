"""Boot methods of nodes: support by bare-metal backends, and prerequisites in a region."""

from components.render.backends import BARE_METAL
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BootMethod
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.inventory import HostSpec
from components.specs.region.catalog import BootMode, GoldenImage


def boot_objections(environment: Environment, image: GoldenImage, instance_type: str) -> list[str]:
    """Return why nodes of ``instance_type`` cannot boot ``image`` in this region, or may fail to join afterwards."""
    backend = environment.region.bare_metal.backend
    boots = BARE_METAL[backend].boots
    if image.boot not in boots:
        return [f"image {image.version} has boot: {image.boot}, {backend} supports {' or '.join(boots)}"]
    if image.boot is not BootMode.LIVE_ISO:
        return []
    if environment.region.nodes.join_service is None:
        unsupported = (
            f"image {image.version} has boot: {image.boot}, which passes no join token to nodes, and is unproven"
            " unless region.yaml has nodes.join_service"
        )
        return [unsupported]
    hosts = [host for host in environment.hosts if host.instance_type == instance_type]
    without = [host for host in hosts if not parse_bmc(host.bmc).attaches_media]
    if without:
        unfit = (
            f"image {image.version} has boot: {image.boot}, which requires virtual media, and {len(without)} of"
            f" {len(hosts)} {instance_type} hosts have a BMC driver without it, such as {without[0].host}"
            f" ({without[0].bmc})"
        )
        return [unfit]
    return []


def boot_method(host: HostSpec) -> BootMethod:
    """Return the method by which ``host`` boots its provisioning image; the BMC driver determines the method."""
    return BootMethod.VIRTUAL_MEDIA if parse_bmc(host.bmc).attaches_media else BootMethod.NETWORK_BOOT
