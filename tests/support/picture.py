"""A picture of a region in text, drawn from its data: racks and their hosts, clusters, networks, storage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from components.plan.intents.nodes import intents_of
from components.plan.pools import wanted_nodes
from components.plan.report.capacity import CountedHost, HostUse, counted_hosts
from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec

FREE = "."
SPARE = "+"
OUT_OF_SERVICE = "!"


def picture(environment: Environment) -> str:
    """Return the region as text of at most 100 columns: one cell a host, one line a rack, pool and VPC."""
    marks = _marks(environment)
    region = environment.region
    lines = [
        f"region {environment.name} · {region.stage} · images from channel {region.image_channel}",
        "",
        *_control_planes(environment),
        "",
        *_racks(environment, marks),
        "",
        *_pools(environment, marks),
        f"  {SPARE} spare   {FREE} free{f'   {OUT_OF_SERVICE} out of service' if environment.out_of_service else ''}",
        "",
        *_networks(environment),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _clusters(environment: Environment) -> Iterator[ClusterSpec]:
    for tenant in environment.tenants:
        yield from tenant.clusters


def _marks(environment: Environment) -> dict[str, str]:
    """Return a letter for each pool, ``cluster/pool`` -> mark, all different."""
    marks: dict[str, str] = {}
    for cluster in _clusters(environment):
        for pool in cluster.pools:
            candidates = [*pool.name, *pool.name.upper(), *"abcdefghijklmnopqrstuvwxyz"]
            marks[f"{cluster.name}/{pool.name}"] = next(
                letter for letter in candidates if letter.isalpha() and letter not in marks.values()
            )
    return marks


def _control_planes(environment: Environment) -> Iterator[str]:
    yield "management cluster"
    for cluster in _clusters(environment):
        plane = cluster.control_plane
        vip = environment.allocations.clusters[cluster.name].vip
        pin = environment.image_pins.control_planes[cluster.name]
        yield f"  {cluster.name:<14} {pin.version:<9} API {vip}   {plane.replicas} replicas on {pin.data_store}"


def _racks(environment: Environment, marks: dict[str, str]) -> Iterator[str]:
    for hall, in_hall in groupby(counted_hosts(environment), key=lambda placed: placed.host.hall):
        yield f"hall {hall}"
        for rack, hosts in groupby(in_hall, key=lambda placed: placed.host.rack):
            row = list(hosts)
            cells = " ".join(_cell(placed, marks) for placed in row)
            kinds = ", ".join(dict.fromkeys(placed.host.instance_type for placed in row))
            yield f"  {rack}  {cells:<18} {kinds}"


def _cell(placed: CountedHost, marks: dict[str, str]) -> str:
    if placed.use is HostUse.NODE and placed.pool:
        return marks[placed.pool]
    return {HostUse.SPARE: SPARE, HostUse.OUT_OF_SERVICE: OUT_OF_SERVICE}.get(placed.use, FREE)


def _pools(environment: Environment, marks: dict[str, str]) -> Iterator[str]:
    for cluster in _clusters(environment):
        for pool in cluster.pools:
            key = f"{cluster.name}/{pool.name}"
            images = sorted({intent.image for intent in intents_of(environment, key).values()})
            yield f"  {marks[key]} {key:<20} {wanted_nodes(environment, pool):>4} nodes   {', '.join(images)}"


def _networks(environment: Environment) -> Iterator[str]:
    yield "networks"
    for tenant in environment.tenants:
        for vpc in tenant.vpcs:
            numbers = environment.allocations.vpcs[vpc.name]
            ranges = f"hosts {numbers.hosts}   pods {numbers.pods}"
            yield f"  vpc {vpc.name:<10} {vpc.isolation:<8} VNI {numbers.vni}   {ranges}"
