"""What nodes need so that agents of NVIDIA's DRA driver (DRAD) run there, and pods of several share a domain."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.add_ons import add_ons
from components.lookups.pools import clusters
from components.specs.add_ons.add_ons import Gift
from components.specs.base import KubernetesVersion
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import listed
from components.specs.region.catalog import GoldenImage, ImageContents

LEAST_KUBERNETES: KubernetesVersion = "v1.34.2"
"""First release for which upstream asks for no settings of API server, scheduler and kubelet
(DRAD:docs/prerequisites.md)."""
_LEAST_DRIVER = "570.158.01"
"""First driver whose IMEX finds its peers by name, without which agents refuse to start
(DRAD:cmd/compute-domain-kubelet-plugin/main.go)."""


def too_old(version: str, least: str) -> bool:
    """Tell whether ``version`` is before ``least``; one that is not numbers with dots says nothing."""
    numbers, needed = (one.removeprefix("v").split(".") for one in (version, least))
    return all(map(str.isdecimal, numbers)) and [*map(int, numbers)] < [*map(int, needed)]


def compute_domain_objections(
    environment: Environment, image: GoldenImage, cluster: str, pool: NodePoolSpec
) -> list[str]:
    """Return why nodes of ``image`` would join no compute domain of a cluster that offers them.

    Images that leave GPUs to VMs are no part of any.
    """
    kind = environment.instance_types.by_name.get(pool.instance_type)
    if kind is None or not kind.spans_nodes or image.contents.vfio_devices:
        return []
    lacks = [*_lacks(image.contents)]
    if not lacks or not offers_compute_domains(environment, cluster):
        return []
    return [f"image {image.version} lacks {listed(lacks)}, and {cluster} offers compute domains on {kind.name}"]


def offers_compute_domains(environment: Environment, cluster: str) -> bool:
    """Tell whether an add-on of ``cluster`` gives compute domains."""
    found = (placed for placed in clusters(environment) if placed.cluster.name == cluster)
    return any(entry.gives is Gift.COMPUTE_DOMAINS for placed in found for entry in add_ons(environment, placed))


def _lacks(contents: ImageContents) -> Iterator[str]:
    if not contents.imex:
        yield "contents.imex: true"
    if contents.gpu_driver is None or too_old(contents.gpu_driver, _LEAST_DRIVER):
        yield f"gpu_driver {_LEAST_DRIVER}"
    if too_old(contents.kubelet, LEAST_KUBERNETES):
        yield f"kubelet {LEAST_KUBERNETES}"
