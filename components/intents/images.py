"""Selection of golden images for pools, by channel, instance type and kubelet version."""

from collections.abc import Iterator

from components.intents.boot import boot_objections
from components.intents.compute_domains import compute_domain_objections
from components.lookups.control_planes import running_version
from components.lookups.network.fabrics import roce
from components.lookups.pools import pools, vpc_of
from components.specs.base import KubernetesVersion
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import FORM, listed
from components.specs.region.catalog import GoldenImage, ImageContents
from components.specs.region.policy import Enforcement, RuleId, WaiverSpec, longest_waiver
from components.specs.storage.storage import StorageClassSpec

CHANNEL = "channel"
MAX_MINORS_BEHIND = 3
"""Maximum number of minor versions by which a kubelet may trail its API server (Kubernetes version skew policy)."""
MAX_DOCA_MINORS = 3
"""Maximum difference in DOCA minor releases between host and DPU. NVIDIA promises compatibility within one year, and a
year has four releases."""


def find_image(environment: Environment, version: str) -> GoldenImage | None:
    """Return the image ``version`` of the catalogue; None if there is none."""
    return next((image for image in environment.images.images if image.version == version), None)


def objections(environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec) -> list[str]:
    """Return why ``image`` may not be newly pinned for ``pool``; empty if it is allowed.

    New pins must also meet the constraints of existing pins. In addition, Cluster API creates no Machine whose minor
    version differs from the control plane (preflight check KubeadmVersionSkew). Nodes of an older image would therefore
    never be created.
    """
    reasons, running = [*standing_objections(environment, image, cluster, pool)], running_version(environment, cluster)
    reasons += _disk_objections(environment, image, cluster, pool)
    if 0 < minor(running) - minor(image.contents.kubelet) <= MAX_MINORS_BEHIND:
        reasons.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, and new nodes can join control plane"
            f" {running} only with the same minor version"
        )
    if _newer(image, running) and not _newer(image, cluster.version):
        command = f"jacquard promote {environment.name} {cluster.name} --to {cluster.version}"
        reasons[-1] += f"; upgrade the control plane first: {command}"
    return reasons


def standing_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> dict[str, str]:
    """Return why ``image`` may not remain pinned for ``pool``. Images older than an upgraded control plane are allowed.

    Channel and revocation are not checked for pools that policy settings or a waiver exempt; the policy rule judges
    these pools.

    Returns:
        Rule by text: the policy that a waiver would name, or FORM.
    """
    rules: dict[str, str] = {}
    if not _may_leave_channel(environment, cluster, pool):
        rules = dict.fromkeys(_channel_objections(environment, image), str(RuleId.IMAGE_OUTSIDE_CHANNEL))
    return rules | dict.fromkeys(incompatibilities(environment, image, cluster, pool), FORM)


def _channel_objections(environment: Environment, image: GoldenImage) -> list[str]:
    channel, reasons = environment.region.image_channel, []
    if channel not in image.channel:
        reasons.append(
            f"image {image.version} is in {', '.join(image.channel)}, not in channel {channel} of region.yaml"
        )
    if image.revoked:
        reasons.append(f"image {image.version} is revoked: {image.revoked}")
    return reasons


def waivers_of_declared_images(environment: Environment) -> Iterator[WaiverSpec]:
    """Yield the waivers of pools that declare an image outside the region's channel, or a revoked one.

    The policy rule judges running nodes only: before the promotion to the image, it finds no violation to waive.
    """
    declared = {placed.key: find_image(environment, placed.pool.image) for placed in pools(environment)}
    for waiver in environment.waivers.waivers:
        image = declared.get(waiver.subject) if waiver.rule == RuleId.IMAGE_OUTSIDE_CHANNEL else None
        if image and _channel_objections(environment, image):
            yield waiver


def incompatibilities(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return the constraint violations of ``image`` on nodes of ``pool``, regardless of the channel."""
    violations = []
    if pool.instance_type not in image.fits:
        violations.append(f"image {image.version} fits {', '.join(image.fits)}, not {pool.instance_type}")
    violations += boot_objections(environment, image, pool.instance_type)
    violations += _rdma_objections(environment, image, pool)
    violations += _roce_objections(environment, image, cluster, pool)
    violations += compute_domain_objections(environment, image, cluster.name, pool)
    running, kubelet = running_version(environment, cluster), image.contents.kubelet
    behind = minor(running) - minor(kubelet)
    if _newer(image, running):
        violations.append(f"image {image.version} has kubelet {kubelet}, newer than control plane {running}")
    elif behind > MAX_MINORS_BEHIND:
        violations.append(
            f"image {image.version} has kubelet {kubelet}, {behind} minor versions older than control plane"
            f" {running} ({MAX_MINORS_BEHIND} are allowed)"
        )
    return violations


def _rdma_objections(environment: Environment, image: GoldenImage, pool: NodePoolSpec) -> list[str]:
    """Return why pods on nodes with ``image`` would get ports without RDMA.

    If the kernel shares RDMA devices between network namespaces, the network plug-in rejects moving a device into a pod
    (IBSRIOV:pkg/utils/rdma.go). If the kernel isolates devices, a pod can open only devices that were moved into its
    namespace.
    """
    kind = environment.instance_types.by_name.get(pool.instance_type)
    has = image.contents.rdma_exclusive
    if (
        kind is None
        or not (kind.infiniband_ports or kind.shares_roce or kind.roce_functions)
        or kind.rdma_exclusive == has
    ):
        return []
    mode = "isolates RDMA devices per network namespace" if has else "shares RDMA devices between network namespaces"
    expected = str(kind.rdma_exclusive).lower()
    text = f"image {image.version} {mode} (contents.rdma_exclusive: {str(has).lower()})"
    return [f"{text}, and {kind.name} has rdma.exclusive: {expected}"]


def _roce_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return a text for each fabric whose RoCE settings differ from the adapter settings of ``image``."""
    kind, has = environment.instance_types.by_name.get(pool.instance_type), image.contents.roce
    vpc = vpc_of((vpc for tenant in environment.tenants for vpc in tenant.vpcs), cluster)
    fabrics = roce(environment, vpc) if kind and kind.roce_ports else []
    settings = f"configures adapters with {has}" if has else "does not configure adapters"
    return [
        f"image {image.version} {settings} (contents.roce), and {fabric.name} of region.yaml has {fabric.roce}"
        for fabric in fabrics
        if fabric.roce != has
    ]


def _disk_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return why new nodes with ``image`` would not provide the local storage classes of ``cluster``."""
    kind, contents = environment.instance_types.by_name.get(pool.instance_type), image.contents
    if kind is None or not kind.nvme_disks:
        return []
    classes = [entry for entry in environment.region.storage if entry.name in cluster.storage]
    plain = [entry.name for entry in classes if entry.encrypted and not contents.encrypted_scratch]
    text = f"image {image.version} does not encrypt disks (contents.encrypted_scratch)"
    objections = [f"{text}, and {cluster.name} has encrypted volumes of {listed(plain)}"] if plain else []
    return objections + [
        f"image {image.version} does not create volume group {entry.volume_group} (contents.volume_groups), and"
        f" {cluster.name} has volumes of {entry.name}"
        for entry in classes
        if lacks_volume_group(contents, entry)
    ]


def lacks_volume_group(contents: ImageContents, entry: StorageClassSpec) -> bool:
    """Return whether an image declares its volume groups, without the group of storage class ``entry``."""
    groups = contents.volume_groups
    return bool(entry.volume_group) and groups is not None and entry.volume_group not in groups


def mirror_objections(environment: Environment, image: GoldenImage) -> list[str]:
    """Return why new nodes with ``image`` would not pull through the region's registry mirror."""
    registry = environment.region.registry
    if registry is None or not registry.nodes or image.contents.registry_hosts:
        return []
    text = f"image {image.version} configures no registry mirror (contents.registry_hosts)"
    return [f"{text}, and nodes pull through {registry.mirror}"]


def choose_image(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> GoldenImage | None:
    """Return the image of a new rollout group of ``pool``; None if no image fits.

    A pool that names no image gets the newest suitable image of the channel. Images that pass GPUs through to VMs are
    only for pools that name such an image.
    """
    if pool.image != CHANNEL:
        return find_image(environment, pool.image)
    offered = [image for image in environment.images.images if environment.region.image_channel in image.channel]
    usual = [image for image in offered if not image.contents.vfio_devices]
    able = [image for image in usual if not mirror_objections(environment, image)]
    fitting = [image for image in able if not objections(environment, image, cluster, pool)]
    return max(fitting, key=lambda image: (image.released, image.version), default=None)


def _may_leave_channel(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> bool:
    """Return whether the policy rule is advisory, or a waiver covers the pool."""
    rule = RuleId.IMAGE_OUTSIDE_CHANNEL
    if environment.policy.rules.get(rule) is Enforcement.ADVISORY:
        return True
    return longest_waiver(environment.waivers.waivers, rule, (pool_key(cluster.name, pool.name),)) is not None


def _newer(image: GoldenImage, version: KubernetesVersion) -> bool:
    """Return whether the kubelet of ``image`` is newer than a control plane of ``version``; this is never allowed."""
    kubelet = image.contents.kubelet
    return (minor(kubelet), patch(kubelet)) > (minor(version), patch(version))


def minor(version: KubernetesVersion) -> int:
    """Return the minor number of a version, 35 of ``v1.35.2``."""
    return int(version.split(".")[1])


def patch(version: KubernetesVersion) -> int:
    """Return the patch number of a version, 2 of ``v1.35.2``."""
    return int(version.split(".")[2])


def doca_fits(first: str, other: str) -> bool:
    """Return whether two DOCA releases are compatible; True if a version does not start with numbers like ``3.2``."""
    numbers = [version.split(".")[:2] for version in (first, other)]
    if not all(len(pair) > 1 and all(map(str.isdecimal, pair)) for pair in numbers):
        return True
    (major, minor_number), (other_major, other_minor) = (map(int, pair) for pair in numbers)
    return major == other_major and abs(minor_number - other_minor) <= MAX_DOCA_MINORS
