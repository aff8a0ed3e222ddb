"""Positions in the data of the objects that policies judge: rows of hosts, entries of pools, clusters and waivers."""

from functools import cached_property

from components.lookups.pools import clusters, inventory_file, pools
from components.render import labels
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.reading.loader import REGION, WAIVERS
from policies.facts import WAIVER, Fact
from policies.waivers import HOSTS


class Places:
    """Positions of hosts, pools, clusters and waivers of one environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def environment(self) -> str:
        """Return the name of the environment."""
        return self._environment.name

    def of(self, fact: Fact) -> tuple[str, int]:
        """Return file and line of the entry from which an object is rendered, else the first line of the region."""
        name, namespace = fact.at("metadata", "name"), fact.at("metadata", "namespace")
        if fact.kind == WAIVER:
            return self._waivers.get((fact.at("rule"), fact.at("subject")), (WAIVERS, 1))
        if fact.kind in HOSTS and isinstance(name, str) and name in self._hosts:
            return self._hosts[name]
        pool = fact.at("metadata", "labels", labels.POOL)
        key = pool_key(namespace, pool) if isinstance(pool, str) and isinstance(namespace, str) else ""
        if key in self._pools:
            return self._pools[key]
        known = (self._clusters[at] for at in (name, namespace) if isinstance(at, str) and at in self._clusters)
        return next(known, (REGION, 1))

    @cached_property
    def _hosts(self) -> dict[str, tuple[str, int]]:
        return {host.host: self._line(inventory_file(host.hall), (host.host,)) for host in self._environment.hosts}

    @cached_property
    def _pools(self) -> dict[str, tuple[str, int]]:
        return {placed.key: self._line(placed.file, placed.path) for placed in pools(self._environment)}

    @cached_property
    def _clusters(self) -> dict[str, tuple[str, int]]:
        return {placed.cluster.name: self._line(placed.file, placed.path) for placed in clusters(self._environment)}

    @cached_property
    def _waivers(self) -> dict[tuple[str, str], tuple[str, int]]:
        entries = enumerate(self._environment.waivers.waivers)
        return {(item.rule, item.subject): self._line(WAIVERS, ("waivers", index)) for index, item in entries}

    def _line(self, file: str, path: tuple[str | int, ...]) -> tuple[str, int]:
        return file, max(1, self._environment.positions.line(file, path))
