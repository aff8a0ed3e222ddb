"""The address of each host in its VPC: the host's end of a link to its DPU, which the lock file says for both.

Left to itself DPF's address management gives links in the order in which DPUs turn up, so that nobody knows a host's
address before its DPU runs. It takes what is said beforehand, whatever it gave before (CIDRPool, staticAllocations).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.lookups.dpu_clusters import linked, links, running_dpu
from components.lookups.pools import problem
from components.render.network.dpf_hbn import HOST_INDEX, POINT_TO_POINT
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.natural import natural
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, listed


@dataclass(frozen=True, slots=True)
class _Placed:
    """A host in a VPC that has a link for each."""

    host: str
    vpc: str
    at: str
    """DPU cluster that runs the host's DPU."""


def give_addresses(
    environment: Environment, vpcs: Mapping[str, VpcAllocation], hosts: Mapping[str, str]
) -> tuple[dict[str, Address], list[Problem]]:
    """Return the address of each host that has a link, and what could not be given.

    A host keeps its address while it stays in its VPC and in its DPU cluster. Another one gets the lowest that nobody
    has, and one that is freed by this very change only when there is no other: its DPU may still hold it.

    Args:
        environment: as loaded; nobody gets an address unless ``nodes.addresses`` of the region asks for it.
        vpcs: numbers by VPC, with the links of each DPU cluster.
        hosts: host to ``cluster/pool``.
    """
    if environment.region.nodes.addresses is None:
        return {}, []
    placed = sorted(_placed(environment, vpcs, hosts), key=lambda one: natural(one.host))
    kept = _kept(environment, vpcs, placed)
    given, problems, held = dict(kept), [], set(environment.allocations.addresses.values())
    free: dict[tuple[str, str], Iterator[Address]] = {}
    for one in placed:
        key = (one.vpc, one.at)
        if key not in free:
            taken = set(kept.values())
            left = (address for address in _room(vpcs[one.vpc], one.at) if address not in taken)
            free[key] = iter(sorted(left, key=lambda address: (address in held, address)))
        if one.host not in given:
            address = next(free[key], None)
            if address is None:
                problems.append(_too_few(environment, one, vpcs[one.vpc]))
            else:
                given[one.host] = address
    return {one.host: given[one.host] for one in placed if one.host in given}, problems


def link_of(address: Address) -> Network:
    """Return the link that ``address`` is the host's end of."""
    return Network((address, POINT_TO_POINT), strict=False)


def _placed(environment: Environment, vpcs: Mapping[str, VpcAllocation], hosts: Mapping[str, str]) -> Iterator[_Placed]:
    vpc_of, cluster_at = dict(linked(environment)), running_dpu(environment)
    for host in environment.hosts:
        vpc = vpc_of.get(cluster_of(hosts.get(host.host, "")), "")
        at = cluster_at(host)
        if vpc in vpcs and at is not None:
            yield _Placed(host.host, vpc, at)


def _kept(environment: Environment, vpcs: Mapping[str, VpcAllocation], placed: list[_Placed]) -> dict[str, Address]:
    """Return the addresses that stay; of two hosts with one address the first."""
    rooms = {(one.vpc, one.at): frozenset(_room(vpcs[one.vpc], one.at)) for one in placed}
    kept: dict[str, Address] = {}
    taken = set[Address]()
    for one in placed:
        old = environment.allocations.addresses.get(one.host)
        if old is not None and old in rooms[one.vpc, one.at] and old not in taken:
            kept[one.host] = old
            taken.add(old)
    return kept


def _room(vpc: VpcAllocation, at: str) -> Iterator[Address]:
    """Yield the addresses of hosts that the DPU cluster ``at`` has links to, upwards."""
    yield from (link + HOST_INDEX for link in links(vpc, at))


def _too_few(environment: Environment, one: _Placed, vpc: VpcAllocation) -> Problem:
    text = (
        f"{listed(map(str, vpc.host_links))} has no link left for {one.host} in DPU cluster {one.at}; add one for hosts"
        f" to more_prefixes of {one.vpc}"
    )
    return problem(environment, ALLOCATIONS, ("vpcs", one.vpc), text)
