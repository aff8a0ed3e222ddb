"""Rule about the members of a running etcd: their number does not decrease."""

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
"""Prefix of the name of this rule in reports."""


class _Etcd(Struct):
    path: DataPath
    members: int


def fewer_members(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report data stores in use that get fewer etcd members.

    The chart only lowers the replicas of the StatefulSet (KETCD:charts/kamaji-etcd/templates/etcd_sts.yaml); the etcd
    still counts the deleted members, and loses its quorum or its tolerance of failures. Commands with ``--base``
    evaluate this rule. A waiver with the data store as its subject permits the change after you removed the members.
    """
    users, before = _users(base), _etcds(base)
    for name, etcd in _etcds(head).items():
        was = before.get(name)
        if was is None or etcd.members >= was.members or name not in users:
            continue
        quorum, there = was.members // 2 + 1, place(base, REGION, was.path)
        move = "" if name == DEDICATED else ", or add another data store and move the clusters to it"
        text = (
            f"{etcd.members} instead of {was.members} (base: {there}) stops pods, but the etcd of {listed(users[name])}"
            f" still has {was.members} members and requires {quorum} of them; write {was.members}{move}"
        )
        yield problem(head, REGION, etcd.path, text, subject=name)


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


CHANGES = (fewer_members,)
"""Rules about the change from a base to a head."""
