"""Fit of an order into the room of a region: pools, whole racks, one fabric, and the system pool of a new cluster."""

from collections.abc import Iterator, Mapping, Sequence

from components.lookups.network.fabrics import ports_on, reached
from components.lookups.spares import nodes_within
from components.placement.decision import Reason, Refusal
from components.reports.fleet.room import Period, Room, rooms
from components.specs.environment import Environment
from components.specs.fleet.order import OrderItemSpec, OrderSpec, Within
from components.specs.hosts.instance_types import InstanceType, Scale
from components.specs.network.fabrics import FabricKind, FabricSpec
from components.specs.network.tenant_network import VpcSpec
from components.specs.pools.node_pool import LEAST_SYSTEM_NODES
from components.specs.reading.problems import listed
from components.specs.struct import Struct


class PlannedPool(Struct):
    """Pool for one item of an order."""

    instance_type: str
    nodes: int
    """Number of nodes; for a rack-scale type those of whole NVLink domains."""
    racks: int | None = None
    """Number of racks of a rack-scale type; None for other types."""


class Plan(Struct):
    """Pools of an order in one region."""

    pools: tuple[PlannedPool, ...]
    system: PlannedPool | None
    """System pool of a new cluster; None if the order adds pools to a cluster."""
    fabrics: tuple[str, ...]
    """Fabrics of the VPC of a new cluster."""
    left: int
    """Orderable nodes of the ordered types that remain."""


class _Fit:
    def __init__(
        self, environment: Environment, order: OrderSpec, vpc: VpcSpec | None, room: Mapping[str, Room]
    ) -> None:
        self._environment, self._order, self._vpc = environment, order, vpc
        self._rooms = room
        self._kinds = environment.instance_types.by_name
        self._halls = {environment.failure_domain(host): host.hall for host in environment.hosts}
        self.refusals: list[Refusal] = []

    def run(self) -> Plan:
        items = [item for item in self._order.items if self._has(item)]
        pools = [self._pool(item, self._kinds[item.instance_type]) for item in items]
        fabrics = tuple(self._fabrics(items, pools)) if self._vpc is None else ()
        for item in items if self._vpc else ():
            self._require_fabric(item)
        left = sum(self._rooms[pool.instance_type].nodes - pool.nodes for pool in pools)
        system = self._system(pools) if self._vpc is None else None
        return Plan(pools=tuple(pools), system=system, fabrics=fabrics, left=left)

    def _has(self, item: OrderItemSpec) -> bool:
        there = item.instance_type in self._rooms
        if not there:
            self._refuse(Reason.INSTANCE_TYPE, f"has no {item.instance_type}", item.nodes)
        return there

    def _pool(self, item: OrderItemSpec, kind: InstanceType) -> PlannedPool:
        room, nodes, racks = self._rooms[kind.name], item.nodes, None
        if kind.scale is Scale.RACK:
            each = nodes_within(kind.nodes_per_rack, self._environment.region.spares)
            if item.within is Within.NVLINK_DOMAIN and nodes > each:
                text = f"an NVLink domain of {kind.name} has {each} nodes without its spares, {nodes} are ordered"
                self._refuse(Reason.NVLINK_DOMAIN, text, nodes - each)
            racks = -(-nodes // each) if each else 0
            nodes = racks * each or nodes
            if not each:
                text = f"all nodes of an NVLink domain of {kind.name} are spares ({self._environment.region.spares})"
                self._refuse(Reason.CAPACITY, text, nodes)
            if racks > len(room.domains):
                text = f"{racks} NVLink domains of {kind.name} are ordered, {len(room.domains)} are free"
                self._refuse(Reason.CAPACITY, text, (racks - len(room.domains)) * each)
        if nodes > room.nodes:
            text = (
                f"{nodes} {kind.name} are ordered, {room.nodes} are orderable ({room.free} free,"
                f" {room.spare} for spares, {room.reserved} contracted)"
            )
            self._refuse(Reason.CAPACITY, text, nodes - room.nodes)
        return PlannedPool(instance_type=kind.name, nodes=nodes, racks=racks)

    def _fabrics(self, items: list[OrderItemSpec], pools: list[PlannedPool]) -> Iterator[str]:
        """Yield the fabrics of the VPC: one of each kind, or all if no item must be on one fabric.

        Pools without room in the region are left out, because their reason is the capacity.
        """
        for fabric_kind in FabricKind:
            here = [
                fabric
                for fabric in self._environment.region.fabrics
                if fabric.kind is fabric_kind and fabric.isolates_vpcs
            ]
            sought = [
                (item, pool)
                for item, pool in zip(items, pools, strict=True)
                if _has_ports(self._kinds[item.instance_type], fabric_kind)
                and pool.nodes <= self._rooms[pool.instance_type].nodes
            ]
            if sought and any(item.within is not Within.REGION for item, _ in sought):
                yield from self._one_fabric(here, [pool for _, pool in sought])
            elif sought:
                yield from sorted(item.name for item in here if any(self._on(item, pool) for _, pool in sought))

    def _one_fabric(self, fabrics: list[FabricSpec], pools: list[PlannedPool]) -> Iterator[str]:
        """Yield the fabric with the least room of those that carry all ``pools``."""
        short = {fabric.name: sum(max(0, pool.nodes - self._on(fabric, pool)) for pool in pools) for fabric in fabrics}
        fitting = [fabric for fabric in fabrics if not short[fabric.name]]
        if fitting:
            yield min(fitting, key=lambda item: (sum(self._on(item, pool) for pool in pools), item.name)).name
            return
        wanted = listed(f"{pool.nodes} {pool.instance_type}" for pool in pools)
        rest = listed(f"{name} lacks {count}" for name, count in sorted(short.items()))
        text = (
            f"no fabric has {wanted} ({rest})"
            if short
            else f"has no fabric for {wanted}; items with 'within: region' need none"
        )
        self._refuse(Reason.FABRIC, text, min(short.values(), default=sum(pool.nodes for pool in pools)))

    def _require_fabric(self, item: OrderItemSpec) -> None:
        """Refuse an item that must be on one fabric if the VPC of its cluster is on none or on several."""
        kind, vpc = self._kinds[item.instance_type], self._vpc
        if vpc is None or item.within is Within.REGION or not any(_has_ports(kind, other) for other in FabricKind):
            return
        halls = {host.hall for host in self._environment.hosts if host.instance_type == kind.name}
        names = [
            fabric.name
            for fabric in self._environment.region.fabrics
            if fabric.name in vpc.fabrics and ports_on(kind, fabric)
            if {*reached(self._environment, fabric)} & halls
        ]
        if len(names) != 1:
            text = f"VPC {vpc.name} of the cluster is on {listed(names)}, and {kind.name} must be on one fabric"
            self._refuse(Reason.FABRIC, text, 0)

    def _on(self, fabric: FabricSpec, pool: PlannedPool) -> int:
        """Return the orderable nodes of the type of ``pool`` on ``fabric``."""
        room, halls = self._rooms[pool.instance_type], reached(self._environment, fabric)
        if not ports_on(self._kinds[pool.instance_type], fabric):
            return 0
        return min(room.nodes, sum(nodes for name, nodes in room.domains.items() if self._halls[name] in halls))

    def _system(self, pools: list[PlannedPool]) -> PlannedPool | None:
        ordered = {pool.instance_type: pool.nodes for pool in pools}
        plain = {
            name: room.nodes - ordered.get(name, 0)
            for name, room in self._rooms.items()
            if self._kinds[name].gpu is None
        }
        best = min(plain, key=lambda name: (-plain[name], name), default=None)
        if best is None or plain[best] < LEAST_SYSTEM_NODES:
            count = plain[best] if best else 0
            text = f"{LEAST_SYSTEM_NODES} nodes without GPUs are required for the system pool, {count} are orderable"
            self._refuse(Reason.CAPACITY, text, LEAST_SYSTEM_NODES - count)
            return None
        return PlannedPool(instance_type=best, nodes=LEAST_SYSTEM_NODES)

    def _refuse(self, reason: Reason, text: str, lacking: int) -> None:
        self.refusals.append(Refusal(reason=reason, text=text, lacking=lacking))


def fit(
    environment: Environment,
    order: OrderSpec,
    vpc: VpcSpec | None = None,
    period: Period | None = None,
    reservations: Sequence[OrderSpec] = (),
) -> tuple[Plan, list[Refusal]]:
    """Return the pools of ``order`` in a region, and the reasons why they do not fit; empty if they fit.

    Args:
        environment: region without problems.
        order: the order.
        vpc: VPC of the cluster to which the order adds pools; None if the order creates the cluster.
        period: days for which the nodes are needed; by default all days.
        reservations: other orders that are reserved in the region.
    """
    fitting = _Fit(environment, order, vpc, rooms(environment, period, reservations))
    plan = fitting.run()
    return plan, fitting.refusals


def _has_ports(kind: InstanceType, fabric_kind: FabricKind) -> bool:
    return bool(kind.infiniband_ports if fabric_kind is FabricKind.INFINIBAND else kind.roce_ports)
