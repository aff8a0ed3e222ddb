"""Which golden image a pool may run: channel, instance type and kubelet version decide."""

from __future__ import annotations

from components.intents.boot import boot_objections
from components.intents.compute_domains import compute_domain_objections
from components.lookups.control_planes import running_version
from components.lookups.fabrics import roce
from components.lookups.pools import vpc_of
from components.specs.base import KubernetesVersion
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import FORM, listed
from components.specs.region.catalog import GoldenImage
from components.specs.region.policy import Enforcement, RuleId, longest_waiver
from components.specs.storage.storage import TopolvmClassSpec

CHANNEL = "channel"
MAX_MINORS_BEHIND = 3
"""How far a kubelet may be behind its API server (Kubernetes' version skew policy)."""
MAX_DOCA_MINORS = 3
"""Minor releases of DOCA between host and DPU: a year has four, and compatibility is promised within one."""


def find_image(environment: Environment, version: str) -> GoldenImage | None:
    """Return the image ``version`` of the catalogue."""
    return next((image for image in environment.images.images if image.version == version), None)


def objections(environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec) -> list[str]:
    """Return why ``image`` may not be newly pinned for ``pool``; empty when it may.

    Beside what is wrong with a pin that stands: Cluster API makes no Machine whose minor version is not the control
    plane's (its preflight check KubeadmVersionSkew), so that nodes of an older image would stay away for ever.
    """
    found, running = [*standing_objections(environment, image, cluster, pool)], running_version(environment, cluster)
    found += _disk_objections(environment, image, cluster, pool)
    if 0 < minor(running) - minor(image.contents.kubelet) <= MAX_MINORS_BEHIND:
        found.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, and new nodes join control plane"
            f" {running} only at its minor version"
        )
    if _newer(image, running) and not _newer(image, cluster.version):
        found[-1] += (
            f"; the control plane goes first: jacquard promote {environment.name} {cluster.name} --to {cluster.version}"
        )
    return found


def standing_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> dict[str, str]:
    """Return why ``image`` may not stay pinned for ``pool``; it may be behind a control plane that went ahead.

    Where policy settings let a pool leave the channel, whether they still do is for the policy rule to say.

    Returns:
        By text the policy that asks for it, whose name a waiver gives, or else FORM.
    """
    channel, found = environment.region.image_channel, {}
    if channel not in image.channel and not _may_leave_channel(environment, cluster, pool):
        text = f"image {image.version} is in {', '.join(image.channel)}, not in channel {channel} of region.yaml"
        found[text] = str(RuleId.IMAGE_OUTSIDE_CHANNEL)
    return found | dict.fromkeys(misfits(environment, image, cluster, pool), FORM)


def misfits(environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec) -> list[str]:
    """Return why ``image`` cannot run as a node of ``pool``, whatever its channel."""
    found = []
    if pool.instance_type not in image.fits:
        found.append(f"image {image.version} fits {', '.join(image.fits)}, not {pool.instance_type}")
    found += boot_objections(environment, image, pool.instance_type)
    found += _rdma_objections(environment, image, pool)
    found += _roce_objections(environment, image, cluster, pool)
    found += compute_domain_objections(environment, image, cluster.name, pool)
    running = running_version(environment, cluster)
    behind = minor(running) - minor(image.contents.kubelet)
    if _newer(image, running):
        found.append(f"image {image.version} has kubelet {image.contents.kubelet}, newer than control plane {running}")
    elif behind > MAX_MINORS_BEHIND:
        found.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, {behind} minor versions behind control plane"
            f" {running} ({MAX_MINORS_BEHIND} are allowed)"
        )
    return found


def _rdma_objections(environment: Environment, image: GoldenImage, pool: NodePoolSpec) -> list[str]:
    """Return why pods on nodes of ``image`` would get ports without RDMA.

    The network plugin refuses to move a device where the kernel shares all of them (IBSRIOV:pkg/utils/rdma.go), and
    where the kernel does not, a pod cannot open one that was not moved to it.
    """
    kind = environment.instance_types.by_name.get(pool.instance_type)
    has = image.contents.rdma_exclusive
    if kind is None or not (kind.infiniband_ports or kind.shares_roce or kind.cuts_roce) or kind.rdma_exclusive == has:
        return []
    kept = "keeps RDMA devices to one namespace" if has else "lets all namespaces see RDMA devices"
    said = str(kind.rdma_exclusive).lower()
    text = f"image {image.version} {kept} (contents.rdma_exclusive: {str(has).lower()})"
    return [f"{text}, and {kind.name} says rdma.exclusive: {said}"]


def _roce_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return where adapters on ``image`` would send other packets than the switches of a fabric carry."""
    kind, has = environment.instance_types.by_name.get(pool.instance_type), image.contents.roce
    vpc = vpc_of((vpc for tenant in environment.tenants for vpc in tenant.vpcs), cluster)
    fabrics = roce(environment, vpc) if kind and kind.roce_ports else []
    made = f"sets adapters to {has}" if has else "sets no adapters"
    return [
        f"image {image.version} {made} (contents.roce), and {fabric.name} of region.yaml carries {fabric.roce}"
        for fabric in fabrics
        if fabric.roce != has
    ]


def _disk_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return which classes of ``cluster`` would be encrypted no more on new nodes of ``image``."""
    kind = environment.instance_types.by_name.get(pool.instance_type)
    if image.contents.encrypted_scratch or kind is None or not kind.nvme_disks:
        return []
    local = [entry for entry in environment.region.storage if isinstance(entry, TopolvmClassSpec) and entry.encrypted]
    names = [entry.name for entry in local if entry.name in cluster.storage]
    if not names:
        return []
    text = f"image {image.version} encrypts no disks (contents.encrypted_scratch)"
    return [f"{text}, and volumes of {listed(names)} in {cluster.name} are encrypted"]


def mirror_objections(environment: Environment, image: GoldenImage) -> list[str]:
    """Return why nodes of ``image`` would not pull as the region says. Nodes that are there were told nothing."""
    registry = environment.region.registry
    if registry is None or not registry.nodes or image.contents.registry_hosts:
        return []
    return [f"image {image.version} asks no mirror (contents.registry_hosts), and nodes pull through {registry.mirror}"]


def choose_image(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> GoldenImage | None:
    """Return the image that a new rollout group of ``pool`` starts with; None when there is none.

    A pool that follows the channel gets the newest image of it that can run there; images that leave GPUs to VMs are
    for pools that name them.
    """
    if pool.image != CHANNEL:
        return find_image(environment, pool.image)
    offered = [image for image in environment.images.images if environment.region.image_channel in image.channel]
    usual = [image for image in offered if not image.contents.vfio_devices]
    able = [image for image in usual if not mirror_objections(environment, image)]
    fitting = [image for image in able if not objections(environment, image, cluster, pool)]
    return max(fitting, key=lambda image: (image.released, image.version), default=None)


def _may_leave_channel(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> bool:
    """Tell whether the policy rule only tells about the channel, or a waiver names the pool."""
    rule = RuleId.IMAGE_OUTSIDE_CHANNEL
    if environment.policy.rules.get(rule) is Enforcement.ADVISORY:
        return True
    return longest_waiver(environment.waivers.waivers, rule, (pool_key(cluster.name, pool.name),)) is not None


def _newer(image: GoldenImage, version: KubernetesVersion) -> bool:
    """Tell whether the kubelet of ``image`` is newer than a control plane of ``version``, which it may never be."""
    kubelet = image.contents.kubelet
    return (minor(kubelet), patch(kubelet)) > (minor(version), patch(version))


def minor(version: KubernetesVersion) -> int:
    """Return the minor number of ``v1.35.2``."""
    return int(version.split(".")[1])


def patch(version: KubernetesVersion) -> int:
    """Return the patch number of ``v1.35.2``."""
    return int(version.split(".")[2])


def doca_fits(one: str, other: str) -> bool:
    """Tell whether two releases of DOCA work together; a version that does not begin ``3.2`` says nothing."""
    numbers = [version.split(".")[:2] for version in (one, other)]
    if not all(len(pair) > 1 and all(map(str.isdecimal, pair)) for pair in numbers):
        return True
    (major, minor_number), (other_major, other_minor) = (map(int, pair) for pair in numbers)
    return major == other_major and abs(minor_number - other_minor) <= MAX_DOCA_MINORS
