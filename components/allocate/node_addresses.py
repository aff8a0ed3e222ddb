"""Addresses of hosts in their VPC: the host end of the link to the DPU. The lock file allocates both ends.

By default, DPF's address management assigns links in the order in which DPUs appear, so the address of a host is
unknown before its DPU runs. DPF accepts static allocations (staticAllocations of a CIDRPool), which override earlier
assignments.
"""

from collections.abc import Iterator, Mapping

from components.lookups.network.dpu_clusters import linked, links, running_dpu
from components.lookups.pools import problem
from components.render.network.dpf_hbn import HOST_INDEX, POINT_TO_POINT
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.natural import natural
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, listed
from components.specs.struct import Struct


class _Placed(Struct, kw_only=False):
    """Host in a VPC with one link per host."""

    host: str
    vpc: str
    at: str
    """DPU cluster that runs the host's DPU."""


def give_addresses(
    environment: Environment, vpcs: Mapping[str, VpcAllocation], hosts: Mapping[str, str]
) -> tuple[dict[str, Address], list[Problem]]:
    """Return the address of each host with a link, and a problem for each host without a free link.

    A host keeps its address while it stays in its VPC and in its DPU cluster. A new host gets the lowest free address.
    An address that this change frees is reused only if no other is free, because the old DPU may still have the address
    configured.

    Args:
        environment: loaded environment; no addresses are assigned unless the region sets ``nodes.addresses``.
        vpcs: allocations by VPC, with the links of each DPU cluster.
        hosts: pool (``cluster/pool``) by host.
    """
    if environment.region.nodes.addresses is None:
        return {}, []
    placed = sorted(_placed(environment, vpcs, hosts), key=lambda item: natural(item.host))
    kept = _kept(environment, vpcs, placed)
    taken, in_lock = set(map(int, kept.values())), set(map(int, environment.allocations.addresses.values()))
    addresses, problems = dict(kept), list[Problem]()
    free: dict[tuple[str, str], Iterator[int]] = {}
    for item in placed:
        key = (item.vpc, item.at)
        if key not in free:
            available = (number for number in _room(vpcs[item.vpc], item.at) if number not in taken)
            free[key] = iter(sorted(available, key=lambda number: (number in in_lock, number)))
        if item.host not in addresses:
            number = next(free[key], None)
            if number is None:
                problems.append(_no_link(environment, item, vpcs[item.vpc]))
            else:
                addresses[item.host] = Address(number)
    return {item.host: addresses[item.host] for item in placed if item.host in addresses}, problems


def link_of(address: Address) -> Network:
    """Return the link whose host end is ``address``."""
    return Network((int(address), POINT_TO_POINT), strict=False)


def _placed(environment: Environment, vpcs: Mapping[str, VpcAllocation], hosts: Mapping[str, str]) -> Iterator[_Placed]:
    vpc_of, cluster_at = dict(linked(environment)), running_dpu(environment)
    for host in environment.hosts:
        vpc = vpc_of.get(cluster_of(hosts.get(host.host, "")), "")
        at = cluster_at(host)
        if vpc in vpcs and at is not None:
            yield _Placed(host.host, vpc, at)


def _kept(environment: Environment, vpcs: Mapping[str, VpcAllocation], placed: list[_Placed]) -> dict[str, Address]:
    """Return the addresses that hosts keep; if two hosts have the same address, only the first host keeps it."""
    rooms = {(vpc, at): frozenset(_room(vpcs[vpc], at)) for vpc, at in {(item.vpc, item.at) for item in placed}}
    kept: dict[str, Address] = {}
    taken = set[int]()
    for item in placed:
        old = environment.allocations.addresses.get(item.host)
        if old is not None and (number := int(old)) in rooms[item.vpc, item.at] and number not in taken:
            kept[item.host] = old
            taken.add(number)
    return kept


def _room(vpc: VpcAllocation, at: str) -> Iterator[int]:
    """Yield the host addresses, as integers, of the links of DPU cluster ``at``, in ascending order."""
    yield from (link + HOST_INDEX for link in links(vpc, at))


def _no_link(environment: Environment, item: _Placed, vpc: VpcAllocation) -> Problem:
    text = (
        f"{listed(map(str, vpc.host_links))} has no free link for {item.host} in DPU cluster {item.at}; add a prefix"
        f" for hosts to more_prefixes of {item.vpc}"
    )
    return problem(environment, ALLOCATIONS, ("vpcs", item.vpc), text)
