"""A picture of a region in text, drawn from its data: racks and their hosts, clusters, networks, storage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.inventory import HostSpec

FREE = "."
SPARE = "+"


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
        f"  {SPARE} spare   {FREE} free",
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
        yield f"  {cluster.name:<14} {cluster.version:<9} API {vip}   {plane.replicas} replicas on {plane.data_store}"


def _racks(environment: Environment, marks: dict[str, str]) -> Iterator[str]:
    spare = _spares(environment)
    for hall, in_hall in groupby(environment.hosts, key=lambda host: host.hall):
        yield f"hall {hall}"
        for rack, hosts in groupby(in_hall, key=lambda host: host.rack):
            row = list(hosts)
            cells = " ".join(_cell(environment, host, marks, spare) for host in row)
            kinds = ", ".join(dict.fromkeys(host.instance_type for host in row))
            yield f"  {rack}  {cells:<18} {kinds}"


def _spares(environment: Environment) -> set[str]:
    """Return hosts that stand for the spares: the last ones assigned to each rollout group beyond its nodes."""
    spare: set[str] = set()
    domain = environment.region.failure_domain.value
    by_group: dict[str, list[str]] = {}
    for host in environment.hosts:
        pool = environment.allocations.hosts.get(host.host)
        if pool:
            by_group.setdefault(f"{pool}/{getattr(host, domain)}", []).append(host.host)
    for group, hosts in by_group.items():
        spare.update(hosts[environment.allocations.groups[group].nodes :])
    return spare


def _cell(environment: Environment, host: HostSpec, marks: dict[str, str], spare: set[str]) -> str:
    pool = environment.allocations.hosts.get(host.host)
    if pool is None:
        return FREE
    return SPARE if host.host in spare else marks[pool]


def _pools(environment: Environment, marks: dict[str, str]) -> Iterator[str]:
    for cluster in _clusters(environment):
        for pool in cluster.pools:
            key = f"{cluster.name}/{pool.name}"
            pins = {pin.image for group, pin in environment.image_pins.groups.items() if group.startswith(f"{key}/")}
            yield f"  {marks[key]} {key:<20} {pool.nodes:>4} nodes   {', '.join(sorted(pins))}"


def _networks(environment: Environment) -> Iterator[str]:
    yield "networks"
    for tenant in environment.tenants:
        for vpc in tenant.vpcs:
            numbers = environment.allocations.vpcs[vpc.name]
            ranges = f"hosts {numbers.hosts}   pods {numbers.pods}"
            yield f"  vpc {vpc.name:<10} {vpc.isolation:<8} VNI {numbers.vni}   {ranges}"
