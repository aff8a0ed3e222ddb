"""Rules about the name of a host's DPU port, on which load balancers are announced: declared, and one per cluster."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.network.dpu_ports import images_of, port_name
from components.lookups.pools import PlacedCluster, clusters, problem
from components.rules.rule import Rules
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.reading.loader import IMAGE_PINS, IMAGES, REGION
from components.specs.reading.problems import Problem, listed
from components.specs.region.catalog import GoldenImage


def declared(environment: Environment) -> Iterator[Problem]:
    """Report images without the name of the DPU port, if their clusters have load balancers.

    Catalogues in which no image declares the name are from release 0.1.0 and are not reported.
    """
    images = environment.images.images
    if not any(image.contents.dpu_interface for image in images):
        return
    cluster_of = {image.version: cluster for image, cluster in _announcing(environment)}
    for index, image in enumerate(images):
        if image.contents.dpu_interface is None and image.version in cluster_of:
            text = (
                f"is required, because load balancers of {cluster_of[image.version]} are announced on this port; write"
                " the interface name of the DPU's first function on nodes with this image, such as enp1s0f0np0"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "dpu_interface"), text)


def region_name(environment: Environment) -> Iterator[Problem]:
    """Report a name of the DPU port in the region that differs from the name in an image in use."""
    name = environment.region.dpus.host_interface
    other: dict[str, set[str]] = defaultdict(set)
    for image, _ in _announcing(environment):
        if name and image.contents.dpu_interface not in {None, name}:
            other[image.contents.dpu_interface or ""].add(image.version)
    if other:
        shown = "; ".join(f"{port} ({listed(naturally(versions))})" for port, versions in sorted(other.items()))
        text = f"{name} is the name in the region, but images in use give the port another one: {shown}; remove it"
        yield problem(environment, REGION, ("dpus", "host_interface"), text)


def one_name(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose images give the DPU port different names: load balancers are announced on one port."""
    for placed in clusters(environment):
        images = _images(environment, placed)
        names = {image.version: port_name(environment, image) for image in images}
        if len(set(names.values())) > 1:
            shown = listed([f"{name} in {version}" for version, name in names.items()])
            text = (
                f"nodes of {placed.cluster.name} have the DPU port under different names ({shown}), and load balancers"
                " are announced on one of them; promote the pools of the cluster to images with one name"
            )
            yield problem(environment, IMAGE_PINS, ("groups",), text)


def _announcing(environment: Environment) -> Iterator[tuple[GoldenImage, str]]:
    """Yield the images of clusters with load balancers, each with a cluster."""
    for placed in clusters(environment):
        yield from ((image, placed.cluster.name) for image in _images(environment, placed))


def _images(environment: Environment, placed: PlacedCluster) -> list[GoldenImage]:
    announces = gives(environment, placed, Capability.LOAD_BALANCERS)
    return images_of(environment, placed.cluster.name) if announces else []


RULES = Rules(locks=(declared, region_name, one_name), promoted=(one_name,))
