"""Rules about ``orders/``: names that orders refer to, and regions of placed orders."""

from collections.abc import Iterator, Sequence

from components.lookups.contracts import changes, promised_nodes
from components.lookups.fleet.capabilities import capabilities
from components.lookups.pools import by_instance_type, placed_cluster
from components.lookups.spares import usable_nodes
from components.reports.fleet.room import reserved_nodes
from components.rules.fleet.fleet import FleetRule, Found
from components.specs.environment import Environment
from components.specs.fleet.order import Within
from components.specs.hosts.instance_types import Scale
from components.specs.reading.fleet import NAME, Fleet, order_file
from components.specs.reading.loader import FLEET
from components.specs.reading.problems import listed, suggestion


def names(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report unknown instance types, versions, regions and capabilities in orders."""
    kinds = {kind.name for item in environments for kind in item.instance_types.instance_types}
    versions = {version for item in environments for version in item.versions.kubernetes}
    offered = {name for item in environments for name in capabilities(item, fleet.regions.get(item.name))}
    for order in fleet.orders if environments else ():
        wanted = order.constraints
        named = [
            *((("items", at, "instance_type"), item.instance_type, kinds) for at, item in enumerate(order.items)),
            (("version",), order.version, versions),
            *((("constraints", "regions", at), name, fleet.regions) for at, name in enumerate(wanted.regions)),
            *(
                (("constraints", "excluded_regions", at), name, fleet.regions)
                for at, name in enumerate(wanted.excluded_regions)
            ),
            *((("constraints", "near"), name, fleet.regions) for name in [wanted.near] if name),
            *((("constraints", "capabilities", at), name, offered) for at, name in enumerate(wanted.capabilities)),
            *((("placed_in",), name, fleet.regions) for name in [order.placed_in] if name),
            *((("reserved_in",), name, fleet.regions) for name in [order.reserved_in] if name),
        ]
        for path, name, known in named:
            if name not in known:
                where = f" in {FLEET}" if known is fleet.regions else ""
                text = f"'{name}' is unknown{where} (known: {listed(sorted(known))}){suggestion(name, sorted(known))}"
                yield NAME, fleet.problem(order_file(order.order), path, text)


def nvlink_domains(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report items that must be in one NVLink domain and cannot."""
    kinds = {kind.name: kind for item in environments for kind in item.instance_types.instance_types}
    for order in fleet.orders:
        for at, item in enumerate(order.items):
            kind = kinds.get(item.instance_type)
            if kind is None or item.within is not Within.NVLINK_DOMAIN:
                continue
            path = ("items", at, "within")
            if kind.scale is not Scale.RACK:
                text = f"{kind.name} has no NVLink domain of several nodes; write {Within.FABRIC} or {Within.REGION}"
                yield NAME, fleet.problem(order_file(order.order), path, text)
            elif item.nodes > kind.nodes_per_rack:
                text = f"an NVLink domain of {kind.name} has {kind.nodes_per_rack} nodes, the item has {item.nodes}"
                yield NAME, fleet.problem(order_file(order.order), path, f"{text}; write {Within.FABRIC}, or fewer")


def placed(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report placed orders whose region has no such cluster of the tenant."""
    by_name = {item.name: item for item in environments}
    for order in fleet.orders:
        region = by_name.get(order.placed_in or "")
        if region is not None and placed_cluster(region, order.tenant, order.cluster) is None:
            text = (
                f"{region.name} has no cluster {order.cluster} of tenant {order.tenant}; remove the order, or the key"
            )
            yield NAME, fleet.problem(order_file(order.order), ("placed_in",), text)


def reserved_capacity(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report reserved orders that exceed the inventory without spares on a day, in addition to all contracts."""
    for environment in environments:
        orders, room = fleet.reservations(environment.name), usable_nodes(environment)
        for at, order in enumerate(orders):
            for day in sorted({order.from_, *(day for day in changes(environment) if order.from_ < day)}):
                mine = reserved_nodes(environment, [order], day)
                every = by_instance_type(promised_nodes(environment, day))
                every += reserved_nodes(environment, orders[: at + 1], day)
                over = [kind for kind in mine if every[kind] > room[kind]]
                for kind in over:
                    text = (
                        f"with these {mine[kind]} nodes, {every[kind]} {kind} of {environment.name} are promised on"
                        f" {day}, but its inventory fits {room[kind]} without spares; remove the key, then place it"
                    )
                    yield NAME, fleet.problem(order_file(order.order), ("reserved_in",), text)
                if over:
                    break


RULES: tuple[FleetRule, ...] = (names, nvlink_domains, placed, reserved_capacity)
"""Rules about orders."""
