"""Which golden image a pool may run: channel, instance type and kubelet version decide."""

from __future__ import annotations

from components.specs.base import KubernetesVersion
from components.specs.catalog import BootMode, GoldenImage
from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.node_pool import NodePoolSpec

CHANNEL = "channel"
MAX_MINORS_BEHIND = 3
"""How far a kubelet may be behind its API server (Kubernetes' version skew policy)."""


def find_image(environment: Environment, version: str) -> GoldenImage | None:
    """Return the image ``version`` of the catalogue."""
    return next((image for image in environment.images.images if image.version == version), None)


def objections(environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec) -> list[str]:
    """Return why ``image`` may not be newly pinned for ``pool``; empty when it may.

    Beside what is wrong with a pin that stands: Cluster API makes no Machine whose minor version is not the control
    plane's (its preflight check KubeadmVersionSkew), so that nodes of an older image would stay away for ever.
    """
    found = standing_objections(environment, image, cluster, pool)
    if 0 < minor(cluster.version) - minor(image.contents.kubelet) <= MAX_MINORS_BEHIND:
        found.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, and new nodes join control plane"
            f" {cluster.version} only at its minor version"
        )
    return found


def standing_objections(
    environment: Environment, image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec
) -> list[str]:
    """Return why ``image`` may not stay pinned for ``pool``; it may be behind a control plane that went ahead."""
    channel = environment.region.image_channel
    found = []
    if channel not in image.channel:
        found.append(f"image {image.version} is in {', '.join(image.channel)}, not in channel {channel} of region.yaml")
    return found + misfits(image, cluster, pool)


def misfits(image: GoldenImage, cluster: ClusterSpec, pool: NodePoolSpec) -> list[str]:
    """Return why ``image`` cannot run as a node of ``pool``, whatever its channel."""
    found = []
    if pool.instance_type not in image.fits:
        found.append(f"image {image.version} fits {', '.join(image.fits)}, not {pool.instance_type}")
    if image.boot is not BootMode.DISK:
        found.append(f"image {image.version} boots by {image.boot}, nodes boot by {BootMode.DISK}")
    behind = minor(cluster.version) - minor(image.contents.kubelet)
    newer = patch(image.contents.kubelet) > patch(cluster.version)
    if behind < 0 or (behind == 0 and newer):
        found.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, newer than control plane {cluster.version}"
        )
    elif behind > MAX_MINORS_BEHIND:
        found.append(
            f"image {image.version} has kubelet {image.contents.kubelet}, {behind} minor versions behind control plane"
            f" {cluster.version} ({MAX_MINORS_BEHIND} are allowed)"
        )
    return found


def choose_image(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> GoldenImage | None:
    """Return the image that a new rollout group of ``pool`` starts with; None when there is none.

    A pool that follows the channel gets the newest image of it that can run there.
    """
    if pool.image != CHANNEL:
        return find_image(environment, pool.image)
    fitting = [image for image in environment.images.images if not objections(environment, image, cluster, pool)]
    return max(fitting, key=lambda image: (image.released, image.version), default=None)


def minor(version: KubernetesVersion) -> int:
    """Return the minor number of ``v1.35.2``."""
    return int(version.split(".")[1])


def patch(version: KubernetesVersion) -> int:
    """Return the patch number of ``v1.35.2``."""
    return int(version.split(".")[2])
