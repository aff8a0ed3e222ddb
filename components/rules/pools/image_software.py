"""Rules about software in golden images that the GPUs or the kubelet do not support."""

from collections.abc import Iterator

from components.intents.images import minor
from components.lookups.pools import place, problem
from components.lookups.versions.gpu_drivers import drivers_of
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import IMAGES, INSTANCE_TYPES
from components.specs.reading.problems import Problem

_CONTAINERD_2 = 36
"""Minor version of the first kubelet without support for containerd 1 (kubernetes/enhancements, KEP-4033)."""


def gpu_drivers(environment: Environment) -> Iterator[Problem]:
    """Report GPU drivers that do not support a GPU of the image's instance types. Their nodes never have GPUs."""
    for index, image in enumerate(environment.images.images):
        driver = image.contents.gpu_driver
        for name in image.fits if driver else ():
            kind = environment.instance_types.by_name.get(name)
            drivers = drivers_of(kind.gpu.model) if kind and kind.gpu else None
            if kind is None or kind.gpu is None or drivers is None or drivers.supported_by(driver or ""):
                continue
            at = environment.instance_types.instance_types.index(kind)
            there = place(environment, INSTANCE_TYPES, ("instance_types", at, "gpu", "model"))
            below = f" and below {drivers.below}" if drivers.below else ""
            text = (
                f"{driver} does not support {kind.gpu.model} of {name} ({there}): {drivers.architecture} requires a"
                f" driver from {drivers.since}{below}; write such a driver, or remove {name} from fits"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "gpu_driver"), text)


def containerd(environment: Environment) -> Iterator[Problem]:
    """Report containerd 1 in images whose kubelet requires containerd 2. Their kubelet does not start."""
    for index, image in enumerate(environment.images.images):
        contents = image.contents
        if contents.containerd.startswith("1.") and minor(contents.kubelet) >= _CONTAINERD_2:
            text = f"{contents.containerd} is not supported by kubelet {contents.kubelet}; build the image with 2"
            yield problem(environment, IMAGES, ("images", index, "contents", "containerd"), text)


RULES = Rules(data=(gpu_drivers, containerd))
