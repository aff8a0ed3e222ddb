"""How many nodes are away at the same moment, counted from each change of a Machine in a watch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from local_region import LocalRegion
from watches import watched, watching

Group: TypeAlias = str
"""A rollout group, as lock files call it: ``cluster/pool/failure-domain``."""


class Watch:
    """All that became of Machines while it ran, in the order in which the API server had it."""

    def __init__(self, region: LocalRegion, file: Path) -> None:
        self._file, self._region = file, region
        self.before = uids(region)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch until the block ends and the last change is recorded."""
        what = ("machines.cluster.x-k8s.io", "--all-namespaces")
        with watching(self._region, self._file, *what, catch_up=self._is_complete):
            yield

    def away(self, ordered: Mapping[Group, int]) -> Iterator[Counter[Group]]:
        """Yield after each change how many nodes are away of each group.

        A node is away while it is ordered, before the change and after it, and there is no Machine for it that is
        available, as Cluster API says of those whose node is ready for as long as it must be, and does not go.
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
                continue  # the list that a watch begins with is not whole yet
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
