"""Intents of DPUs: one per DPUDeployment. Only a promotion changes the intent, as for nodes."""

from collections import Counter
from collections.abc import Iterator, Mapping

from components.intents.differences import At, Difference, differences
from components.lookups.network.dpu_clusters import running_dpu
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import DataPath, vpc_of_host
from components.render.backends import NETWORK_BACKENDS
from components.render.network.dpf_hbn import clusters_with
from components.render.network.dpu_services import UNASSIGNED
from components.render.network.dpu_templates import newest
from components.render.network.dpus import named
from components.render.network.tenant_network import on_dpus
from components.specs.environment import Environment
from components.specs.keys import DPUS, dpu_key
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.pools.intents import DpuIntent
from components.specs.reading.loader import IMAGES, INSTANCE_TYPES, REGION
from components.specs.region.catalog import DpuImage
from components.specs.struct import Struct

_OF_IMAGE = ("url", "sha256", "bsp", "doca", "uefi", "atf")
"""Fields of an intent that the image determines."""


class DpuDeployment(Struct):
    """DPUDeployment of a region, with the VPC and the DPU cluster of its DPUs."""

    name: str
    """Name of the DPUDeployment."""
    vpc: str | None
    """VPC of the hosts with these DPUs; None for free hosts."""
    cluster: str
    """DPU cluster that the DPUs join."""

    @property
    def key(self) -> str:
        """Return the key in the lock file, ``dpus/deployment``."""
        return dpu_key(self.name)


def find_dpu_image(environment: Environment, version: str) -> DpuImage | None:
    """Return the DPU image ``version`` of the catalogue; None if there is none."""
    return next((image for image in environment.images.dpu_images if image.version == version), None)


def wanted_dpu_intent(environment: Environment, image: DpuImage, revision: int | None = None) -> DpuIntent:
    """Return the DPU intent that the data declare for ``image``; the default is the newest template revision."""
    region, kinds = environment.region, environment.instance_types.instance_types
    return DpuIntent(
        revision=newest() if revision is None else revision,
        image=image.version,
        **{name: getattr(image, name) for name in _OF_IMAGE},
        virtual_functions=max(kind.dpu.virtual_functions for kind in kinds),
        mtu_bytes=region.dpus.mtu_bytes,
        uplink_mtu_bytes=region.dpus.uplink_mtu_bytes,
        mirror=region.registry.for_dpus if region.registry else None,
    )


def dpu_pins(environment: Environment, vpcs: Mapping[str, VpcAllocation]) -> dict[str, DpuIntent]:
    """Return the name of the intent of each DPUDeployment, by key of the lock file.

    Existing pins are kept. A new deployment gets the most common intent, so that the DPUs of a region stay uniform; in
    a new region the intent comes from the data.
    """
    pins = environment.image_pins
    old = {key: pins.dpu_intents[name] for key, name in pins.dpus.items()}
    keys = [deployment.key for deployment in deployments(environment, vpcs)]
    count = Counter(intent.name for intent in old.values())
    usual = max(old.values(), key=lambda intent: (count[intent.name], intent.name), default=None)
    image = find_dpu_image(environment, environment.region.dpus.image)
    first = usual or (wanted_dpu_intent(environment, image) if image else None)
    return {key: intent for key in keys if (intent := old.get(key) or first)}


def dpus_behind(environment: Environment) -> tuple[Difference, ...]:
    """Return the fields in which DPU pins are out of date; during a rollout the target intent is compared."""
    pins, opened = environment.image_pins, environment.image_pins.rollouts.get(DPUS)
    name = opened.to if opened else min(pins.dpus.values(), default=None)
    image = find_dpu_image(environment, environment.region.dpus.image)
    if name is None or image is None:
        return ()
    intent = pins.dpu_intents[name]
    wanted = wanted_dpu_intent(environment, image, intent.revision)
    return differences(environment, intent, wanted, _places(environment, image), _OF_IMAGE)


def deployments(environment: Environment, vpcs: Mapping[str, VpcAllocation]) -> Iterator[DpuDeployment]:
    """Yield the DPUDeployments of a region: first for free hosts, then for VPCs.

    Args:
        environment: loaded environment.
        vpcs: current or new allocations by VPC.
    """
    if not uses_dpf(environment):
        return
    control = environment.region.dpus
    every = control.every(environment.region.networks.dpu_loopbacks)
    for at in every:
        yield DpuDeployment(name=named(UNASSIGNED, at), vpc=None, cluster=at.name)
    for tenant in environment.tenants:
        for vpc in filter(on_dpus, tenant.vpcs):
            if NETWORK_BACKENDS[vpc.isolation].ovn:
                yield DpuDeployment(name=vpc.name, vpc=vpc.name, cluster=every[0].name)
            elif vpc.name in vpcs:
                for at in clusters_with(vpcs[vpc.name], control, every):
                    yield DpuDeployment(name=named(vpc.name, at), vpc=vpc.name, cluster=at.name)


def dpu_hosts(environment: Environment) -> dict[str, str]:
    """Return the lock file key of the DPUDeployment to which the data assign the DPU of each host, by host name."""
    vpc_of, running = vpc_of_host(environment), running_dpu(environment)
    key_of = {(item.vpc, item.cluster): item.key for item in deployments(environment, environment.allocations.vpcs)}
    places = {host.host: (vpc_of(host), running(host)) for host in environment.hosts}
    return {host: key_of[place] for host, place in places.items() if place in key_of}


def ordered_dpus(environment: Environment) -> Counter[str]:
    """Return the number of DPUs that the data assign to each DPUDeployment, by key of the lock file: one per host."""
    return Counter(dpu_hosts(environment).values())


def _places(environment: Environment, image: DpuImage) -> Mapping[str, At]:
    """Return the file and path of the value in the data that determines each field of a DPU intent."""
    entry: DataPath = ("dpu_images", environment.images.dpu_images.index(image))
    kinds = environment.instance_types.instance_types
    most = max(range(len(kinds)), key=lambda index: kinds[index].dpu.virtual_functions)
    return {
        "image": (REGION, ("dpus", "image")),
        **{name: (IMAGES, (*entry, name)) for name in _OF_IMAGE},
        "virtual_functions": (INSTANCE_TYPES, ("instance_types", most, "dpu", "virtual_functions")),
        "mtu_bytes": (REGION, ("dpus", "mtu_bytes")),
        "uplink_mtu_bytes": (REGION, ("dpus", "uplink_mtu_bytes")),
        "mirror": (REGION, ("registry", "mirror")),
    }


def dpus_of_vpc(environment: Environment, vpc: str) -> tuple[DpuIntent, ...]:
    """Return the DPU intents for hosts of ``vpc``, one per DPUDeployment."""
    pins = environment.image_pins
    keys = {item.key for item in deployments(environment, environment.allocations.vpcs) if item.vpc == vpc}
    return tuple(pins.dpu_intents[name] for key, name in pins.dpus.items() if key in keys)
