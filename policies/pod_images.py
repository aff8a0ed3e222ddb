"""Reads the images of pods from the objects that create them."""

from collections.abc import Iterator, Mapping
from typing import Any

from policies.facts import UNKNOWN, Fact

PODS: Mapping[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"), ("spec", "template", "spec")),
}
"""Path of the specification of pods, by kind."""


def pod_images(fact: Fact) -> Iterator[Any]:
    """Yield the images of the containers of an object's pods; UNKNOWN for a container or list that is unknown."""
    pod = PODS[str(fact.kind)]
    for containers in (fact.at(*pod, "containers"), fact.at(*pod, "initContainers")):
        if containers is UNKNOWN:
            yield UNKNOWN
        else:
            yield from (item if item is UNKNOWN else item.get("image") for item in containers or ())
