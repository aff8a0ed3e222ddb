"""Power states of hosts, from a watch of their objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.local_region import LocalRegion
from tests.support.local_regions.watches import watched, watching

HOST = ("metal3.io/v1alpha1", "BareMetalHost")


@contextmanager
def watched_power(region: LocalRegion, namespace: str, host: str, file: Path) -> Iterator[None]:
    """Write all events of a host into ``file`` until the block ends and the last change is recorded."""

    def is_complete() -> bool:
        current = (region.api().get(ObjectRef(*HOST, host, namespace)) or {})["metadata"]["resourceVersion"]
        return any(event["object"]["metadata"]["resourceVersion"] == current for event in watched(file))

    path = f"/apis/{HOST[0]}/namespaces/{namespace}/baremetalhosts"
    with watching(region, file, path, catch_up=is_complete, fieldSelector=f"metadata.name={host}"):
        yield


def power_states(file: Path) -> list[bool]:
    """Return the power states (on or off), one entry for each change."""
    states: list[bool] = []
    for event in watched(file):
        on = bool(event["object"].get("status", {}).get("poweredOn"))
        if states[-1:] != [on]:
            states.append(on)
    return states
