"""Requirements of NVIDIA's DRA driver (DRAD) for nodes in compute domains that span nodes."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons
from components.lookups.pools import clusters
from components.specs.add_ons.add_ons import Capability
from components.specs.base import KubernetesVersion
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import listed
from components.specs.region.catalog import GoldenImage, ImageContents

LEAST_KUBERNETES: KubernetesVersion = "v1.34.2"
"""First Kubernetes release on which the driver requires no settings of API server, scheduler and kubelet
(DRAD:docs/prerequisites.md)."""
_LEAST_DRIVER = "570.158.01"
"""First NVIDIA driver whose IMEX daemon finds peers by name; with older drivers the plug-in does not start
(DRAD:cmd/compute-domain-kubelet-plugin/main.go)."""


def too_old(version: str, least: str) -> bool:
    """Return whether ``version`` is older than ``least``; False if ``version`` does not consist of dotted numbers."""
    numbers, needed = (text.removeprefix("v").split(".") for text in (version, least))
    return all(map(str.isdecimal, numbers)) and [*map(int, numbers)] < [*map(int, needed)]


def compute_domain_objections(
    environment: Environment, image: GoldenImage, cluster: str, pool: NodePoolSpec
) -> list[str]:
    """Return why nodes with ``image`` could not join compute domains, for a cluster that offers compute domains.

    Images that pass GPUs through to VMs are exempt: their nodes never join a compute domain.
    """
    kind = environment.instance_types.by_name.get(pool.instance_type)
    if kind is None or not kind.spans_nodes or image.contents.vfio_devices:
        return []
    missing = [*_missing(image.contents)]
    if not missing or not offers_compute_domains(environment, cluster):
        return []
    return [f"image {image.version} lacks {listed(missing)}, and {cluster} offers compute domains on {kind.name}"]


def offers_compute_domains(environment: Environment, cluster: str) -> bool:
    """Return whether an add-on of ``cluster`` provides compute domains."""
    matching = (placed for placed in clusters(environment) if placed.cluster.name == cluster)
    return any(
        entry.gives is Capability.COMPUTE_DOMAINS for placed in matching for entry in add_ons(environment, placed)
    )


def _missing(contents: ImageContents) -> Iterator[str]:
    if not contents.imex:
        yield "contents.imex: true"
    if contents.gpu_driver is None or too_old(contents.gpu_driver, _LEAST_DRIVER):
        yield f"gpu_driver {_LEAST_DRIVER}"
    if too_old(contents.kubelet, LEAST_KUBERNETES):
        yield f"kubelet {LEAST_KUBERNETES}"
