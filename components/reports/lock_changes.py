"""Description of changed lock files, one sentence per cluster: nodes, hosts, control plane and numbers."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from components.reports.moved_charts import moved_charts
from components.specs.environment import Environment
from components.specs.keys import cluster_of, parts_of
from components.specs.locks import ClusterAllocation
from components.specs.natural import naturally
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.lock_text import entry_text
from components.specs.reading.problems import listed

MAX_HOSTS_NAMED = 5
_WHY = {
    "guids": "as many as its nodes need, on the fabrics of its VPC",
    "pkeys": "according to the fabrics of its VPC",
    "fabric_vnis": "according to the fabrics of its VPC",
    "links": "as many as its hosts need",
    "controller": "the previous controller cannot manage its hosts",
}
"""Reasons for changed numbers of an existing cluster; all other changes follow from the data of the cluster."""
_Entry = ClusterAllocation | VpcAllocation | None


def sentences(before: Environment, after: Environment) -> list[str]:
    """Return the changes of each cluster whose entries in the lock files differ, in natural order."""
    names = {*before.allocations.clusters, *after.allocations.clusters}
    texts = {name: "; ".join(_Clusters(before, after).parts(name)) for name in naturally(names)}
    return [f"{name}: {text}" for name, text in texts.items() if text]


class _Clusters:
    """Environment before and after a change, compared by cluster."""

    def __init__(self, before: Environment, after: Environment) -> None:
        self._before, self._after = before, after
        self._charts: dict[str, list[str]] = defaultdict(list)
        for moved in moved_charts(before, after):
            self._charts[moved.cluster].append(str(moved))

    def parts(self, name: str) -> Iterator[str]:
        """Yield the changes of the cluster ``name``."""
        old, new = self._before.allocations.clusters.get(name), self._after.allocations.clusters.get(name)
        if old is None:
            yield "is new"
        elif new is None:
            yield "is deleted, and its numbers stay in quarantine"
        yield from self._control_plane(name)
        yield from self._charts[name]
        yield from self._nodes(name)
        yield from self._hosts(name)
        if old and new:
            yield from _numbers(old, new)
            vpcs, now = self._before.allocations.vpcs, self._after.allocations.vpcs
            yield from _numbers(*(_seen(entries.get(new.vpc or ""), name) for entries in (vpcs, now)))

    def _control_plane(self, name: str) -> Iterator[str]:
        old = self._before.image_pins.control_planes.get(name)
        new = self._after.image_pins.control_planes.get(name)
        if old and new and old.version != new.version:
            yield f"its control plane is upgraded from {old.version} to {new.version}, without changes of nodes"
        if old and new and old.data_store != new.data_store:
            yield f"its state is migrated from {old.data_store} to {new.data_store}"

    def _nodes(self, name: str) -> Iterator[str]:
        was, now = _sizes(self._before, name), _sizes(self._after, name)
        for pool in naturally({*was, *now}):
            if was[pool] != now[pool]:
                yield (
                    f"{pool} has {now[pool]} nodes instead of {was[pool]}"
                    if was[pool]
                    else f"{now[pool]} new nodes in {pool}"
                )
        rolled: dict[tuple[str, str], int] = defaultdict(int)
        for key, intent in self._after.image_pins.groups.items():
            if cluster_of(key) == name and self._before.image_pins.groups.get(key, intent) != intent:
                image = self._after.image_pins.intents[intent].image
                rolled[parts_of(key)[1], image] += self._after.allocations.groups[key].nodes
        for (pool, image), count in rolled.items():
            yield f"{count} nodes of {pool} are rolled to {image}"

    def _hosts(self, name: str) -> Iterator[str]:
        was, now = self._before.allocations.hosts, self._after.allocations.hosts
        moved: dict[str, list[str]] = defaultdict(list)
        for host in naturally({*was, *now}):
            old, new = was.get(host, ""), now.get(host, "")
            if old == new or name not in {cluster_of(old), cluster_of(new)}:
                continue
            if cluster_of(old) == cluster_of(new):
                moved[f"from {old} to {new}"].append(host)
            else:
                moved[f"to {new}" if cluster_of(new) == name else f"released by {old}"].append(host)
        for way, hosts in moved.items():
            yield f"{_counted(hosts)} {way}"


def _sizes(environment: Environment, cluster: str) -> Counter[str]:
    nodes = Counter[str]()
    for key, group in environment.allocations.groups.items():
        if cluster_of(key) == cluster:
            nodes[parts_of(key)[1]] += group.nodes
    return nodes


def _counted(hosts: list[str]) -> str:
    return f"{len(hosts)} host{'' if len(hosts) == 1 else 's'} ({listed(hosts, MAX_HOSTS_NAMED)})"


def _seen(vpc: VpcAllocation | None, cluster: str) -> VpcAllocation | None:
    """Return the entry of a VPC without the values of other clusters."""
    if vpc is None:
        return None
    more = {name: prefix for name, prefix in vpc.more_prefixes.items() if prefix.cluster in {None, cluster}}
    return vpc.model_copy(update={"more_prefixes": more})


def _numbers(old: _Entry, new: _Entry) -> Iterator[str]:
    """Yield the differing values of an entry, each with the reason."""
    was, now = (_values(entry) if entry else {} for entry in (old, new))
    for key, value in now.items():
        if old and was[key] != value:
            yield f"{key} {entry_text(was[key])} -> {entry_text(value)}, {_WHY.get(key, 'as declared in its data')}"


def _values(entry: ClusterAllocation | VpcAllocation) -> dict[str, object]:
    """Return all values of an entry in the format of the lock file, including omitted top-level defaults."""
    return entry.model_dump(mode="json") | entry.model_dump(mode="json", exclude_defaults=True)
