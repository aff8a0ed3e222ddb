"""Reads the images of pods from the objects that create them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policies.facts import UNKNOWN, Fact

PODS: Mapping[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"),
        ("spec", "template", "spec"),
    ),
}
"""Path of the specification of pods, by kind."""
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
"""Lists of containers of a pod."""


def pod_images(fact: Fact) -> Iterator[Any]:
    """Yield the images of the containers and volumes of an object's pods; UNKNOWN for each unknown one.

    The patch of an object has containers without an image.
    """
    pod = PODS[str(fact.kind)]
    containers = [item for key in _CONTAINERS for item in _items(fact.at(*pod, key))]
    volumes = [_at(item, "image") for item in _items(fact.at(*pod, "volumes"))]
    images = [_at(item, "image") for item in containers]
    images += [_at(item, "reference") for item in volumes if item is not None]
    yield from (image for image in images if image is not None)


def _items(found: Any) -> Iterable[Any]:
    return (UNKNOWN,) if found is UNKNOWN else found or ()


def _at(item: Any, key: str) -> Any:
    return UNKNOWN if item is UNKNOWN else item.get(key)
