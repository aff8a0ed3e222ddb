"""Rules about the members of a running etcd: their number does not change."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.control_planes import taken_stores
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import DataPath, place, problem
from components.render.backends import CONTROL_PLANES
from components.render.region.region import kamaji_data_stores
from components.specs.base import DEDICATED
from components.specs.control_planes.data_stores import DPU_STORE
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed
from components.specs.struct import Struct

AREA = "data-stores"
"""Prefix of the names of these rules in reports."""


class _Etcd(Struct):
    path: DataPath
    members: int


def fewer_members(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report data stores in use that get fewer etcd members.

    The chart only lowers the replicas of the StatefulSet (KETCD:charts/kamaji-etcd/templates/etcd_sts.yaml); the etcd
    still counts the deleted members, and loses its quorum or its tolerance of failures. Commands with ``--base``
    evaluate this rule. A waiver with the data store as its subject permits the change after you removed the members.
    """
    for name, was, etcd, users in _changes(base, head):
        if etcd.members >= was.members:
            continue
        quorum, there = was.members // 2 + 1, place(base, REGION, was.path)
        text = (
            f"{etcd.members} instead of {was.members} (base: {there}) stops pods, but the etcd of {users}"
            f" still has {was.members} members and requires {quorum} of them; write {was.members}{_move(name)}"
        )
        yield problem(head, REGION, etcd.path, text, subject=name)


def more_members(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report data stores in use that get more etcd members.

    The chart does not add members to the running etcd. It starts all pods with ``--initial-cluster-state=new`` and the
    list of all members (KETCD:charts/kamaji-etcd/templates/etcd_sts.yaml). Members with data ignore the list, and new
    members start another, empty etcd with another cluster ID (ETCD:server/etcdserver/server.go NewServer). The
    DataStore has the endpoints of both, and so have all API servers. Commands with ``--base`` evaluate this rule. A
    waiver permits the change if the new members join the etcd by another chart.
    """
    for name, was, etcd, users in _changes(base, head):
        if etcd.members <= was.members:
            continue
        added, there = etcd.members - was.members, place(base, REGION, was.path)
        text = (
            f"{etcd.members} instead of {was.members} (base: {there}) starts {added} members that do not join the etcd "
            f"of {users}, and API servers send them requests; write {was.members}{_move(name)}"
        )
        yield problem(head, REGION, etcd.path, text, subject=name)


def _changes(base: Environment, head: Environment) -> Iterator[tuple[str, _Etcd, _Etcd, str]]:
    """Yield the name of each data store in use, its etcd in the base and in the head, and its users."""
    users, before = _users(base), _etcds(base)
    for name, etcd in _etcds(head).items():
        if name in before and name in users:
            yield name, before[name], etcd, listed(users[name])


def _move(name: str) -> str:
    return "" if name == DEDICATED else ", or add another data store and move the clusters to it"


def _etcds(environment: Environment) -> dict[str, _Etcd]:
    """Return the created etcds by name of the data store; k0smotron never removes members of the etcds it creates."""
    region = environment.region.control_planes
    kept = kamaji_data_stores(region, dpf=uses_dpf(environment))
    found = {
        store.name: _Etcd(path=("control_planes", "data_stores", index, "members"), members=store.members)
        for index, store in enumerate(region.data_stores)
        if store in kept and not store.is_existing
    }
    if region.dedicated and not CONTROL_PLANES[region.backend].etcd_by_replicas:
        found[DEDICATED] = _Etcd(path=("control_planes", "dedicated", "members"), members=region.dedicated.members)
    return found


def _users(environment: Environment) -> dict[str, list[str]]:
    """Return the names of the users of each data store: clusters, or the DPUs."""
    users: dict[str, list[str]] = defaultdict(list)
    for cluster, stores in taken_stores(environment).items():
        for store in stores:
            users[store].append(cluster)
    if uses_dpf(environment):
        users[DPU_STORE].append("the DPUs")
    return users


CHANGES = (fewer_members, more_members)
"""Rules about the change from a base to a head."""
