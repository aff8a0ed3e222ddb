"""Number of simultaneously unavailable nodes, counted after each change of a Machine in a watch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.local_regions.local_region import LocalRegion
from tests.support.local_regions.watches import watched, watching

Group: TypeAlias = str
"""A rollout group, named as in lock files: ``cluster/pool/failure-domain``."""
_MACHINES = "/apis/cluster.x-k8s.io/v1beta2/machines"


class Watch:
    """All events of Machines during a block, in the order of the API server."""

    def __init__(self, region: LocalRegion, file: Path) -> None:
        self._file, self._region = file, region
        self.before = uids(region)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch until the block ends and the last change is recorded."""
        with watching(self._region, self._file, _MACHINES, catch_up=self._is_complete):
            yield

    def unavailable(self, ordered: Mapping[Group, int]) -> Iterator[Counter[Group]]:
        """Yield the number of unavailable nodes of each group after each change.

        A declared node is unavailable if it has no Machine with the condition Available (its node has been ready for
        the required time) and without a deletion timestamp.
        """
        there: dict[str, tuple[Group, bool]] = {}
        recorded: set[str] = set()
        for event in watched(self._file):
            machine = event["object"]
            uid = machine["metadata"]["uid"]
            if event["type"] == "DELETED":
                there.pop(uid)
            else:
                there[uid] = (group_of(machine), _available(machine))
            recorded.add(uid)
            if not self.before <= recorded:
                continue  # The initial list of the watch is not complete yet.
            available = Counter(group for group, counts in there.values() if counts)
            yield Counter({group: count - available[group] for group, count in ordered.items()})

    def _is_complete(self) -> bool:
        recorded: set[str] = set()
        for event in watched(self._file):
            (set.discard if event["type"] == "DELETED" else set.add)(recorded, event["object"]["metadata"]["uid"])
        return recorded == uids(self._region)


def machines(region: LocalRegion) -> dict[Group, set[str]]:
    """Return the uids of the Machines of each rollout group."""
    found: dict[Group, set[str]] = defaultdict(set)
    for machine in region.api().list("cluster.x-k8s.io/v1beta2", "Machine"):
        found[group_of(machine)].add(machine["metadata"]["uid"])
    return dict(found)


def uids(region: LocalRegion) -> set[str]:
    """Return the uids of all Machines."""
    return {uid for found in machines(region).values() for uid in found}


def group_of(machine: Mapping[str, Any]) -> Group:
    """Return the rollout group of a Machine."""
    metadata = machine["metadata"]
    return f"{metadata['namespace']}/{metadata['labels']['jacquard.dev/pool']}/{machine['spec']['failureDomain']}"


def _available(machine: Mapping[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in machine.get("status", {}).get("conditions", ())}
    return conditions.get("Available") == "True" and "deletionTimestamp" not in machine["metadata"]
