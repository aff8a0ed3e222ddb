"""Which bare-metal controller has whose hosts, and how many that is.

Metal3 looks for hosts in the namespace of their cluster, and a namespace has one controller: two would both claim a
host for their own Ironic. So a cluster is on one controller with all its hosts, and so are the hosts that no cluster
has, which share a namespace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from components.intents.boot import boot_method
from components.lookups.pools import PlacedCluster, problem
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BootMethod, ControllerSpec
from components.specs.keys import cluster_of
from components.specs.natural import natural
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed

PATH = ("bare_metal", "controllers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The hosts of one controller against what it may hold."""

    name: str
    """Name of the controller, or of the backend where a region lists no controllers."""
    boot: str | None
    clusters: int
    assigned: int
    """Number of hosts that the controller's clusters have."""
    free: int
    """Number of hosts on the controller that no cluster has."""
    limit: int

    @property
    def hosts(self) -> int:
        """Return all its hosts."""
        return self.assigned + self.free

    def to_json(self) -> dict[str, Any]:
        """Return the budget as data."""
        return {**asdict(self), "hosts": self.hosts}


def boots(controller: ControllerSpec, methods: Collection[BootMethod]) -> bool:
    """Tell whether ``controller`` can boot hosts of all ``methods``; one for network boot attaches media, too."""
    return controller.boot is BootMethod.NETWORK_BOOT or BootMethod.NETWORK_BOOT not in methods


def methods_of(environment: Environment, hosts: Mapping[str, str]) -> dict[str, set[BootMethod]]:
    """Return how the hosts of each cluster boot, when hosts are in pools as ``hosts`` says; free ones under ``""``."""
    found: dict[str, set[BootMethod]] = defaultdict(set)
    for host in environment.hosts:
        found[cluster_of(hosts.get(host.host, ""))].add(boot_method(host))
    return found


def budgets(environment: Environment) -> tuple[Budget, ...]:
    """Return what each bare-metal controller of ``environment`` has to do."""
    metal, lock = environment.region.bare_metal, environment.allocations
    load = Counter(cluster_of(lock.hosts.get(host.host, "")) for host in environment.hosts)
    free = load.pop("", 0)
    if not metal.controllers:
        every = Budget(
            name=metal.backend.value,
            boot=None,
            clusters=len(load),
            assigned=load.total(),
            free=free,
            limit=metal.hosts_per_controller,
        )
        return (every,)
    mine: dict[str | None, list[str]] = defaultdict(list)
    for cluster, given in lock.clusters.items():
        mine[given.controller].append(cluster)
    return tuple(
        Budget(
            name=one.name,
            boot=one.boot.value,
            clusters=len(mine[one.name]),
            assigned=sum(load[cluster] for cluster in mine[one.name]),
            free=free if one.name == metal.free_hosts else 0,
            limit=one.max_hosts,
        )
        for one in metal.controllers
    )


class Controllers:
    """Gives clusters to controllers: each keeps the one it has, or gets the least loaded that can boot its hosts."""

    def __init__(self, environment: Environment, hosts: Mapping[str, str]) -> None:
        """Begin with no cluster anywhere; ``hosts`` are in pools as it says."""
        self._environment = environment
        self._known = {item.name: item for item in environment.region.bare_metal.controllers}
        self._hosts = hosts
        self._load = Counter(map(cluster_of, hosts.values()))
        self._used = Counter({environment.region.bare_metal.free_hosts: len(environment.hosts) - len(hosts)})
        self.problems: list[Problem] = []

    @cached_property
    def _methods(self) -> Mapping[str, Collection[BootMethod]]:
        """Return how the hosts of each cluster boot, which nobody asks while each cluster has its controller."""
        return methods_of(self._environment, self._hosts)

    def keep(self, cluster: str, controller: str | None) -> None:
        """Enter that ``cluster`` is on ``controller`` already."""
        self._used[controller] += self._load[cluster]

    def choose(self, placed: PlacedCluster, old: str | None) -> str | None:
        """Return the controller of a cluster; None when there is none for it, which is a problem, or none at all."""
        name = placed.cluster.name
        if old in self._known or not self._known:
            return old if self._known else None
        if old is not None and self._load[name]:
            self._gone(placed, old)
            return old
        able = [item for item in self._known.values() if boots(item, self._methods[name])]
        roomy = [item for item in able if self._used[item.name] + self._load[name] <= item.max_hosts]
        if not roomy:
            self._none(placed, able)
            return None
        chosen = min(roomy, key=lambda item: (Fraction(self._used[item.name], item.max_hosts), natural(item.name)))
        self._used[chosen.name] += self._load[name]
        return chosen.name

    def _gone(self, placed: PlacedCluster, old: str) -> None:
        text = (
            f"its {self._load[placed.cluster.name]} hosts are on bare-metal controller '{old}', which {self._listing()}"
            " does not list; add it there again: a host changes controllers only while no cluster has it"
        )
        self._report(placed, text)

    def _none(self, placed: PlacedCluster, able: list[ControllerSpec]) -> None:
        hosts, methods = self._load[placed.cluster.name], self._methods[placed.cluster.name]
        what = "" if able else f", which boot by {listed(sorted(methods))}"
        loads = listed(f"{item.name} {self._used[item.name]} of {item.max_hosts}" for item in able)
        text = f"no bare-metal controller has room for its {hosts} hosts{what} ({self._listing()}: {loads})"
        self._report(placed, f"{text}; add one there")

    def _listing(self) -> str:
        return f"{REGION}:{self._environment.positions.line(REGION, PATH)}"

    def _report(self, placed: PlacedCluster, text: str) -> None:
        self.problems.append(problem(self._environment, placed.file, placed.path, text))
