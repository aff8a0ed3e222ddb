"""Assignment of clusters to bare-metal controllers, and the number of hosts per controller.

Metal3 looks up hosts in the namespace of their cluster. A namespace has one controller, because two controllers would
both claim a host for their own Ironic. All hosts of a cluster are therefore on one controller. Unassigned hosts share a
namespace and are on one controller as well.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
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
from components.specs.struct import Struct, asdict

PATH = ("bare_metal", "controllers")


class Budget(Struct):
    """Number of hosts of one controller, and the controller's limit."""

    name: str
    """Name of the controller, or of the backend if the region lists no controllers."""
    boot: str | None
    clusters: int
    assigned: int
    """Number of hosts assigned to the controller's clusters."""
    free: int
    """Number of unassigned hosts on the controller."""
    limit: int

    @property
    def hosts(self) -> int:
        """Return the total number of hosts."""
        return self.assigned + self.free

    def to_json(self) -> dict[str, Any]:
        """Return the budget as a JSON object."""
        return {**asdict(self), "hosts": self.hosts}


def boots(controller: ControllerSpec, methods: Collection[BootMethod]) -> bool:
    """Return whether ``controller`` supports all ``methods``; a network-boot controller also supports virtual media."""
    return controller.boot is BootMethod.NETWORK_BOOT or BootMethod.NETWORK_BOOT not in methods


def methods_of(environment: Environment, hosts: Mapping[str, str]) -> dict[str, set[BootMethod]]:
    """Return the boot methods by cluster for the assignment ``hosts`` (pool by host); the key ``""`` has free hosts."""
    methods: dict[str, set[BootMethod]] = defaultdict(set)
    for host in environment.hosts:
        methods[cluster_of(hosts.get(host.host, ""))].add(boot_method(host))
    return methods


def budgets(environment: Environment) -> tuple[Budget, ...]:
    """Return the budget of each bare-metal controller of ``environment``."""
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
    by_controller: dict[str | None, list[str]] = defaultdict(list)
    for cluster, entry in lock.clusters.items():
        by_controller[entry.controller].append(cluster)
    return tuple(
        Budget(
            name=controller.name,
            boot=controller.boot.value,
            clusters=len(by_controller[controller.name]),
            assigned=sum(load[cluster] for cluster in by_controller[controller.name]),
            free=free if controller.name == metal.free_hosts else 0,
            limit=controller.max_hosts,
        )
        for controller in metal.controllers
    )


class Controllers:
    """Assignment of clusters to controllers: the current controller, or the least loaded that can boot the hosts."""

    def __init__(self, environment: Environment, hosts: Mapping[str, str]) -> None:
        """Start without assigned clusters; ``hosts`` maps each host to its pool."""
        self._environment = environment
        self._known = {item.name: item for item in environment.region.bare_metal.controllers}
        self._hosts = hosts
        self._load = Counter(map(cluster_of, hosts.values()))
        self._used = Counter({environment.region.bare_metal.free_hosts: len(environment.hosts) - len(hosts)})
        self.problems: list[Problem] = []

    @cached_property
    def _methods(self) -> Mapping[str, Collection[BootMethod]]:
        """Return the boot methods of each cluster, computed on first use: only new assignments need the methods."""
        return methods_of(self._environment, self._hosts)

    def keep(self, cluster: str, controller: str | None) -> None:
        """Record the existing assignment of ``cluster`` to ``controller``."""
        self._used[controller] += self._load[cluster]

    def choose(self, placed: PlacedCluster, old: str | None) -> str | None:
        """Return the controller of a cluster; None if the region has no controllers or no suitable one (a problem)."""
        name = placed.cluster.name
        if old in self._known or not self._known:
            return old if self._known else None
        if old is not None and self._load[name]:
            self._report_missing(placed, old)
            return old
        able = [item for item in self._known.values() if boots(item, self._methods[name])]
        roomy = [item for item in able if self._used[item.name] + self._load[name] <= item.max_hosts]
        if not roomy:
            self._report_full(placed, able)
            return None
        chosen = min(roomy, key=lambda item: (Fraction(self._used[item.name], item.max_hosts), natural(item.name)))
        self._used[chosen.name] += self._load[name]
        return chosen.name

    def _report_missing(self, placed: PlacedCluster, old: str) -> None:
        text = (
            f"its {self._load[placed.cluster.name]} hosts are on bare-metal controller '{old}', which {self._listing()}"
            " does not list; add it again: a host can change controllers only while it is not assigned to a cluster"
        )
        self._report(placed, text)

    def _report_full(self, placed: PlacedCluster, able: list[ControllerSpec]) -> None:
        hosts, methods = self._load[placed.cluster.name], self._methods[placed.cluster.name]
        required = "" if able else f", which boot by {listed(sorted(methods))}"
        loads = listed(f"{item.name} {self._used[item.name]} of {item.max_hosts}" for item in able)
        text = f"no bare-metal controller has room for its {hosts} hosts{required} ({self._listing()}: {loads})"
        self._report(placed, f"{text}; add one there")

    def _listing(self) -> str:
        return f"{REGION}:{self._environment.positions.line(REGION, PATH)}"

    def _report(self, placed: PlacedCluster, text: str) -> None:
        self.problems.append(problem(self._environment, placed.file, placed.path, text))
