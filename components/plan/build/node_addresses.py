"""Which address each host has in its VPC, for those that hand it over: to DPUs their end, to nodes theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from components.plan.allocate.dpu_clusters import running_dpu
from components.plan.allocate.node_addresses import link_of
from components.render.inventory import dpu_name
from components.specs.base import Address, Network
from components.specs.environment import Environment


def host_links(environment: Environment, vpc: str) -> Mapping[str, Mapping[str, Network]]:
    """Return the links of the hosts in ``vpc`` that have an address, by DPU cluster and by name of the DPU."""
    lock, found = environment.allocations, defaultdict[str, dict[str, Network]](dict)
    if lock.addresses:
        prefixes, at = lock.vpcs[vpc].of_kind("hosts"), running_dpu(environment)
        for host in environment.hosts:
            address = lock.addresses.get(host.host)
            if address is not None and any(address in prefix for prefix in prefixes):
                found[at(host) or ""][dpu_name(host)] = link_of(address)
    return found


def addresses_of(environment: Environment, pool: str) -> Mapping[str, Address]:
    """Return the address of each host of ``pool`` (``cluster/pool``) that has one, by host."""
    lock = environment.allocations
    return {host: address for host, address in lock.addresses.items() if lock.hosts.get(host) == pool}
