"""How many nodes are away at the same moment, counted from each change of a Machine that the API server tells."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from local_region import ENVIRONMENT, LocalRegion, wait_until

from jacquard.lab.toolchain import binaries

Group: TypeAlias = str
"""A rollout group, as lock files call it: ``cluster/pool/failure-domain``."""
_CAUGHT_UP_SECONDS = 60.0
_SPACE = re.compile(r"\s*")


class Watch:
    """All that became of Machines while it ran, in the order in which the API server had it."""

    def __init__(self, region: LocalRegion, file: Path) -> None:
        self._file, self._region = file, region
        self.before = uids(region)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch until the block ends and its last change was told."""
        kubeconfig = self._region.home / "regions" / ENVIRONMENT / "kubeconfigs" / "management.yaml"
        what = ("get", "machines.cluster.x-k8s.io", "--all-namespaces", "--watch", "--output-watch-events")
        with self._file.open("w") as file:
            command = [binaries.path("kubectl"), f"--kubeconfig={kubeconfig}", *what, "--output=json"]
            process = subprocess.Popen(command, stdout=file)
        try:
            self._wait_for(self.before)
            yield
            assert process.poll() is None, "the watch ended, so that something may be missing"
            self._wait_for(uids(self._region))
        finally:
            process.kill()
            process.wait()

    def away(self, ordered: Mapping[Group, int]) -> Iterator[Counter[Group]]:
        """Yield after each change how many nodes are away of each group.

        A node is away while it is ordered, before the change and after it, and there is no Machine for it that is
        available, as Cluster API says of those whose node is ready for as long as it must be, and does not go.
        """
        there: dict[str, tuple[Group, bool]] = {}
        told: set[str] = set()
        for event in self._events():
            machine = event["object"]
            uid = machine["metadata"]["uid"]
            if event["type"] == "DELETED":
                there.pop(uid)
            else:
                there[uid] = (group_of(machine), _available(machine))
            told.add(uid)
            if not self.before <= told:
                continue  # the list that a watch begins with is not whole yet
            available = Counter(group for group, counts in there.values() if counts)
            yield Counter({group: count - available[group] for group, count in ordered.items()})

    def _events(self) -> Iterator[dict[str, Any]]:
        return _events_in(self._file)

    def _wait_for(self, wanted: set[str]) -> None:
        def told() -> bool:
            there: set[str] = set()
            for event in self._events():
                (set.discard if event["type"] == "DELETED" else set.add)(there, event["object"]["metadata"]["uid"])
            return there == wanted

        wait_until(told, timeout_seconds=_CAUGHT_UP_SECONDS, what="the watch tells of all machines that are there")


def _events_in(file: Path) -> Iterator[dict[str, Any]]:
    """Yield what was told as a whole; the last event may still be on its way."""
    text, decoder, at = file.read_text(), json.JSONDecoder(), 0
    while at < len(text):
        try:
            event, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield event
        at = _SPACE.match(text, at).end()


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


def told_uids(file: Path) -> set[str]:
    """Return the uids of all objects that a watch told of in ``file``, also of those that are gone."""
    return {event["object"]["metadata"]["uid"] for event in _events_in(file)}


def _available(machine: Mapping[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in machine.get("status", {}).get("conditions", ())}
    return conditions.get("Available") == "True" and "deletionTimestamp" not in machine["metadata"]
