"""Effects that depend on more than the changed field: the table of effects refined by the data of both sides.

The table judges a field of a kind alone. Whether a node runs on a host, whether a cluster is retired, and whether a
disk image is only the source of other disks, is in the data of the base.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.lookups.data_stores import stopped_etcds
from components.lookups.effects.changes import ROLLOUT_GROUP, Change
from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.effects.table import CREATED, DELETED, Row
from components.lookups.pools import clusters, pools
from components.render import labels
from components.render.control_planes.etcd_backup import saved_at
from components.render.network import ovn_services
from components.render.network.dpus import HBN_CHART
from components.render.pools.pool_rollout import waits_for_jobs
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_key
from components.specs.struct import replace
from jacquard.previews.impacts.impact import DISRUPTIVE
from jacquard.previews.impacts.machines import MACHINES, Machines
from jacquard.previews.impacts.scopes import Scope, vpc_scope

MOVED = "metadata.namespace"
"""Path of the change of a host that another cluster, or no cluster, may claim: its object moves to another namespace.
"""
_HOST = "metal3.io/BareMetalHost"
_CHART, _ON_DPUS = "source.toolkit.fluxcd.io/OCIRepository", frozenset({HBN_CHART, *ovn_services.CHARTS})
_DPUS = "svc.dpu.nvidia.com/DPUDeployment"
_RELEASE, _PATCHES = "helm.toolkit.fluxcd.io/HelmRelease", "spec.postRenderers"
_ADDRESSES = "metallb.io/IPAddressPool"
_SLURM = "slinky.slurm.net/Controller"
_MOUNTS = re.compile(r"spec\.(?:configFile|(?:pro|epi)log(?:Slurmctld)?Script)Refs\.(?P<reference>.+)")
_FLEET = "pool.kubevirt.io/VirtualMachinePool"
_SOURCE = "jacquard:docs/changes/effects.md Effects that depend on other data"
_IDLE = "No node runs on the host; it is registered, erased or flashed for its next use."
_DRAINED = "The host is drained before its DPU changes, and dpus.release replaces its node. {}"
_BY_DPF = "DPF installs the chart on DPUs by its DPUServiceTemplate; no release refers to this source."
_FREED = "No node runs on the host, which is cleaned according to its cleaning mode, and unregistered."
_REMOVED = "No node runs on the host, which is removed together with its DPU."
_EVICTED = (
    "Surplus nodes are drained without waiting for their jobs, and deleted: first Machines with the annotation"
    " cluster.x-k8s.io/delete-machine, then unhealthy ones, then the oldest. With scale_down: idle-only they wait."
)
_STOPPED = (
    "Members stop: API servers of all clusters of the data store fail until step start. All changes of their objects"
    " since {} are lost. Nodes and pods continue."
)
_STARTED = "Members start with the restored data; API servers of all clusters of the data store then restart."
_ADDED = "Services can get the added addresses; none loses its address."
_MOUNTED = "The operator mounts the same files for all of these lists, so no pod of slurmctld changes."
_SURPLUS = "The machines with the highest numbers, {} in all, are stopped and deleted with their volumes."
_NO_NODES = "It has no nodes, or DPUs of hosts without nodes only."
_RETIRED = "It belongs to a retired cluster, or to a VPC without hosts: no machine uses it."


class Refinement:
    """Refines the effects of changes between two sides."""

    def __init__(self, base: Environment, head: Environment, machines: Machines) -> None:
        self._machines = machines
        self._groups = base.allocations.groups
        self._releases = head.region.dpus.release is not None
        self._unused = _unused(base)
        sides = [{placed.key: placed.pool for placed in pools(side)} for side in (base, head)]
        self._waiting = {key for key in sides[0] if all(waits_for_jobs(side[key]) for side in sides if key in side)}
        """Pools whose nodes are deleted only after their jobs, before and after the change."""
        self._stopped = [stopped_etcds(side) for side in (base, head)]

    def of(self, about: Scope, changes: Iterable[Change]) -> Iterator[Change]:
        """Yield the ``changes`` of the component with the scope ``about``, with refined effects."""
        for change in _with_mounts(_with_moves(changes)):
            if change.row is not None:
                yield self._refined(about, change, change.row)
            else:
                yield change

    def _refined(self, about: Scope, change: Change, row: Row) -> Change:
        if self._releases and row.falls_on is Subject.DPUS and row.when is When.BY_HAND:
            row = row.model_copy(update={"when": When.IN_TURN})
        if row.falls_on in MACHINES:
            return self._of_machines(replace(change, row=row), row)
        if change.kind == _CHART and change.manifest.name in _ON_DPUS:
            return _with(change, row, Effect.NONE, _BY_DPF)
        return self._deleted(about, change, row) if change.path == DELETED else self._edited(change, row)

    def _edited(self, change: Change, row: Row) -> Change:
        """Return a change of an object that remains."""
        if change.kind == _RELEASE and change.path.startswith(_PATCHES):
            return self._of_patches(change, row)
        if change.kind == ROLLOUT_GROUP and _shrinks(change) and _pool_of(change) not in self._waiting:
            return _with(change, row, Effect.DELETED, _EVICTED)
        if change.kind == _ADDRESSES and change.path == "spec.addresses" and _only_added(change):
            return _with(change, row, Effect.IN_PLACE, _ADDED)
        if change.kind == _FLEET and _shrinks(change):
            return _with(change, row, Effect.DELETED, _SURPLUS.format(change.old - change.new))
        return change

    def _of_patches(self, change: Change, row: Row) -> Change:
        """Return a change of the patches of a release, which stop or start the members of an etcd for a restore."""
        etcd = (str(change.manifest.namespace), change.manifest.name)
        before, after = (side.get(etcd) for side in self._stopped)
        if (before is None) == (after is None):
            return change
        change = replace(change, path=_PATCHES)
        if after is None:
            return _with(change, row, Effect.RESTARTED, _STARTED, Subject.CONTROL_PLANES)
        saved = saved_at(after.snapshot, etcd[1])
        why = _STOPPED.format(f"{saved:%Y-%m-%d %H:%M} UTC" if saved else f"snapshot {after.snapshot}")
        return _with(change, row, Effect.REPLACED, why, Subject.CONTROL_PLANES)

    def _deleted(self, about: Scope, change: Change, row: Row) -> Change:
        if change.kind == ROLLOUT_GROUP and not self._has_nodes(change):
            return _with(change, row, Effect.NONE, _NO_NODES)
        if change.effect is Effect.UNKNOWN and about in self._unused:
            return _with(change, row, Effect.DELETED, _RETIRED)
        return change

    def _of_machines(self, change: Change, row: Row) -> Change:
        """Return a change of hosts or DPUs: provisioned if no node runs there, replaced nodes if hosts are drained."""
        hosts = self._machines.of(change)
        removed = change.path == DELETED and change.effect is Effect.UNKNOWN and len(hosts) == 1
        freed = change.path == DELETED and change.kind == _HOST
        if not (row.drains or removed or change.effect in DISRUPTIVE or change.path in (CREATED, MOVED)):
            return change
        if any(map(self._machines.runs_node, hosts)):
            drained = _with(change, row, Effect.REPLACED, _DRAINED.format(row.why), Subject.NODES)
            return drained if row.drains else change
        if change.kind == _DPUS and change.path in (CREATED, DELETED):
            return _with(change, row, Effect.NONE, _NO_NODES)
        if removed or freed:
            return _with(change, row, Effect.DELETED, _FREED if freed else _REMOVED)
        if not hosts or change.effect is Effect.NONE:
            return change
        return _with(change, row, Effect.PROVISIONED, _IDLE, Subject.HOSTS)

    def _has_nodes(self, change: Change) -> bool:
        values = change.manifest.body["metadata"]["labels"]
        group = self._groups.get(group_key(_pool_of(change), values[labels.FAILURE_DOMAIN]))
        return group is None or group.most_nodes > 0


def _pool_of(change: Change) -> str:
    values = change.manifest.body["metadata"]["labels"]
    return pool_key(values[labels.CLUSTER], values[labels.POOL])


def _shrinks(change: Change) -> bool:
    """Return whether a rollout group gets fewer nodes. With bounds, the autoscaler removes idle nodes only."""
    sizes = (change.old, change.new)
    return change.path == "spec.replicas" and all(isinstance(size, int) for size in sizes) and sizes[1] < sizes[0]


def _with_moves(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield ``changes``; a host that is deleted in one namespace and created in another one is one change."""
    hosts: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.kind == _HOST and change.path in (CREATED, DELETED):
            hosts[change.manifest.name].append(change)
        else:
            yield change
    for same in hosts.values():
        by_path = {change.path: change for change in same}
        if len(by_path) == len((CREATED, DELETED)):
            old, new = by_path[DELETED], by_path[CREATED]
            yield replace(old, path=MOVED, old=old.manifest.namespace, new=new.manifest.namespace)
        else:
            yield from same


def _with_mounts(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield ``changes``; a file of slurmctld that moves between lists of its Controller stays mounted as before."""
    moved: dict[tuple[str, str, str], list[Change]] = defaultdict(list)
    for change in changes:
        match = _MOUNTS.fullmatch(change.path) if change.kind == _SLURM else None
        if match is None:
            yield change
        else:
            value = change.new if change.old is None else change.old
            moved[change.manifest.cluster, match["reference"], str(value)].append(change)
    for same in moved.values():
        if sum((change.old is None) - (change.new is None) for change in same) == 0 and len(same) > 1:
            yield from (_with(change, change.row, Effect.IN_PLACE, _MOUNTED) for change in same if change.row)
        else:
            yield from same


def _only_added(change: Change) -> bool:
    """Return whether a list of addresses keeps all its entries."""
    lists = (change.old, change.new)
    return all(isinstance(entries, Sequence) for entries in lists) and set(change.old) <= set(change.new)


def _with(change: Change, row: Row, effect: Effect, why: str, falls_on: Subject | None = None) -> Change:
    update = {"effect": effect, "why": why, "falls_on": falls_on or row.falls_on}
    if why in (_ADDED, _BY_DPF, _FREED, _IDLE, _NO_NODES, _REMOVED, _RETIRED) or change.path == _PATCHES:
        update["source"] = _SOURCE
    return replace(change, effect=effect, row=row.model_copy(update=update))


def _unused(base: Environment) -> set[Scope]:
    """Return the scopes of the retired clusters of the base, and of the VPCs without another cluster."""
    retired: set[Scope] = set()
    used: set[Scope] = set()
    for placed in clusters(base):
        tenant, cluster = placed.tenant.tenant, placed.cluster
        scopes: Sequence[Scope] = ((tenant, cluster.name), vpc_scope(tenant, cluster.vpc))
        (retired if cluster.retire else used).update(scopes)
    vpcs = {vpc_scope(tenant.tenant, vpc.name) for tenant in base.tenants for vpc in tenant.vpcs}
    return (retired | vpcs) - used
