"""Text picture of a region, drawn from its data: control planes, racks and hosts, pools, networks."""

from collections.abc import Iterator
from itertools import groupby

from components.intents.nodes import intents_of
from components.lookups.host_use import CountedHost, HostUse, counted_hosts
from components.lookups.pools import pools, wanted_nodes
from components.specs.environment import Environment
from jacquard.cli.views.region.pictures import fabrics, marks

FREE, SPARE, OUT_OF_SERVICE = ".", "+", "!"
_CELLS = 18
"""Minimum width of the cells of a rack, which aligns the instance types."""
_ALIKE = 3
"""Minimum number of identical neighbouring racks that share a line."""


def region_map(environment: Environment) -> str:
    """Return the region as text: one cell per host; one line per pool, VPC, and rack or run of identical racks."""
    region = environment.region
    pool_marks = marks(environment)
    out_of_service = f"   {OUT_OF_SERVICE} out of service" if environment.out_of_service else ""
    lines = [
        f"region {environment.name} · {region.stage} · images from channel {region.image_channel}",
        "",
        *_control_planes(environment),
        "",
        *_racks(environment, pool_marks),
        "",
        *_pools(environment, pool_marks),
        f"{'':<{_width(pool_marks)}} {SPARE} spare   {FREE} free{out_of_service}",
        "",
        *_networks(environment),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _width(pool_marks: dict[str, str]) -> int:
    return max(map(len, pool_marks.values()), default=1)


def _control_planes(environment: Environment) -> Iterator[str]:
    yield "management cluster"
    for tenant in environment.tenants:
        for cluster in tenant.clusters:
            allocation = environment.allocations.clusters.get(cluster.name)
            pin = environment.image_pins.control_planes.get(cluster.name)
            replicas = cluster.control_plane.replicas
            if allocation and pin:
                api = f"API {allocation.vip}   {replicas} replicas on {pin.data_store}"
                yield f"  {cluster.name:<14} {pin.version:<9} {api}"
            else:
                yield f"  {cluster.name:<14} {cluster.version:<9} not allocated"


def _racks(environment: Environment, pool_marks: dict[str, str]) -> Iterator[str]:
    for hall, in_hall in groupby(counted_hosts(environment), key=lambda placed: placed.host.hall):
        yield f"hall {hall}{fabrics(environment, hall)}"
        rows = [
            (rack, _row(list(hosts), pool_marks))
            for rack, hosts in groupby(in_hall, key=lambda placed: placed.host.rack)
        ]
        for row, alike in groupby(rows, key=lambda row: row[1]):
            racks = [rack for rack, _ in alike]
            if len(racks) < _ALIKE:
                yield from (f"  {rack}  {row}" for rack in racks)
            else:
                yield f"  {racks[0]}  {row}"
                yield f"  {'':<{len(racks[0])}}  and {len(racks) - 1} identical racks, up to {racks[-1]}"


def _row(hosts: list[CountedHost], pool_marks: dict[str, str]) -> str:
    cells = " ".join(f"{_cell(placed, pool_marks):>{_width(pool_marks)}}" for placed in hosts)
    kinds = ", ".join(dict.fromkeys(placed.host.instance_type for placed in hosts))
    return f"{cells:<{_CELLS}} {kinds}"


def _cell(placed: CountedHost, pool_marks: dict[str, str]) -> str:
    if placed.use is HostUse.NODE and placed.pool:
        return pool_marks.get(placed.pool, "?")
    return {HostUse.SPARE: SPARE, HostUse.OUT_OF_SERVICE: OUT_OF_SERVICE}.get(placed.use, FREE)


def _pools(environment: Environment, pool_marks: dict[str, str]) -> Iterator[str]:
    width = max((len(key) for key in pool_marks), default=0)
    for placed in pools(environment):
        images = sorted({intent.image for intent in intents_of(environment, placed.key).values()})
        nodes = wanted_nodes(environment, placed.pool)
        mark = f"{pool_marks[placed.key]:>{_width(pool_marks)}}"
        yield f"  {mark} {placed.key:<{max(width, 20)}} {nodes:>4} nodes   {', '.join(images)}"


def _networks(environment: Environment) -> Iterator[str]:
    yield "networks"
    for tenant in environment.tenants:
        for vpc in tenant.vpcs:
            numbers = environment.allocations.vpcs.get(vpc.name)
            allocated = (
                f"VNI {numbers.vni}   hosts {numbers.hosts}   pods {numbers.pods}" if numbers else "not allocated"
            )
            yield f"  vpc {vpc.name:<10} {vpc.isolation:<8} {allocated}"
