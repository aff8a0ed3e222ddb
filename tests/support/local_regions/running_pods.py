"""Pods with one image that tests create in a cluster of a local region, and their status."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.region_contents import gpu_job


class RunningPod:
    """A pod on a node, with one container."""

    def __init__(self, api: Any, node: str, name: str, image: str) -> None:
        self._api, self._ref = api, ObjectRef("v1", "Pod", name, "default")
        body = gpu_job(self._ref, node)
        body["spec"]["containers"] = [{"name": "work", "image": image}]
        api.create(body, field_manager="tenant")

    def waiting(self) -> dict[str, str]:
        """Return reason and message of a container that does not run."""
        statuses = dig(self._api.get(self._ref), "status", "containerStatuses") or [{}]
        return dict(dig(statuses[0], "state", "waiting") or {})

    def runs(self) -> bool:
        return bool(dig(self._api.get(self._ref), "status", "phase") == "Running")

    def events(self) -> set[tuple[str, str]]:
        """Return type and reason of the events about the pod."""
        listed = self._api.list("v1", "Event", namespace="default")
        return {(one["type"], one["reason"]) for one in listed if one["involvedObject"]["name"] == self._ref.name}

    def delete(self) -> None:
        self._api.delete(self._ref)
