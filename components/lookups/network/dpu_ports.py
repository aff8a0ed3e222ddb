"""Name of the DPU's first port on the nodes of a cluster, as given by their golden images."""

from collections.abc import Iterator

from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.region.catalog import GoldenImage

ASSUMED = "eth0"
"""Name of the port if neither image nor region declares one, as in release 0.1.0."""


def images_of(environment: Environment, cluster: str) -> list[GoldenImage]:
    """Return the images of the catalogue to which rollout groups of ``cluster`` are pinned, by version."""
    used = {intent.image for intent in environment.image_pins.intents_by_cluster.get(cluster, ())}
    images = {image.version: image for image in environment.images.images}
    return [images[version] for version in naturally(used & images.keys())]


def port_name(environment: Environment, image: GoldenImage) -> str:
    """Return the name of the port with ``image``: of the image, else of the region."""
    return image.contents.dpu_interface or environment.region.dpus.host_interface or ASSUMED


def load_balancer_port(environment: Environment, cluster: str) -> str:
    """Return the port on which nodes of ``cluster`` announce load balancers; images of a cluster use one name."""
    return next(_names(environment, cluster), environment.region.dpus.host_interface or ASSUMED)


def _names(environment: Environment, cluster: str) -> Iterator[str]:
    return (port_name(environment, image) for image in images_of(environment, cluster))
