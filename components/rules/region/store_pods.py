"""Storage pods of the stores of metrics and of logs, compared with the hosts of the management cluster."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, place, problem
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem


def more(environment: Environment, pods: int, most: int) -> str:
    """Return the remedy ``storage_pods: ..., `` if the hosts have room for ``pods``, at most ``most``; else nothing."""
    return f"storage_pods: {pods}, " if pods <= min(most, environment.region.control_planes.hosts or most) else ""


def beyond_hosts(environment: Environment, store: DataPath, pods: int, consequence: str) -> Iterator[Problem]:
    """Report more storage pods of ``store`` than hosts; ``consequence``: what follows if two pods share a host."""
    hosts = environment.region.control_planes.hosts
    if hosts is not None and pods > hosts:
        there = place(environment, REGION, ("control_planes", "hosts"))
        text = f"{pods} pods on {hosts} hosts ({there}): two share a host, and {consequence}"
        yield problem(environment, REGION, (*store, "storage_pods"), f"{text}; write {hosts} and a larger size")
