"""Addresses of hosts in their VPC, for the configuration of DPUs and nodes."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from components.allocate.node_addresses import link_of
from components.lookups.network.dpu_clusters import running_dpu
from components.lookups.pools import clusters
from components.render.hosts.inventory import dpu_name
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of

Links = Mapping[str, Mapping[str, Network]]
"""Links of hosts, by DPU cluster and by name of the DPU."""


def host_links(environment: Environment, vpcs: Collection[str]) -> Mapping[str, Links]:
    """Return the links of hosts with an address in ``vpcs``, by VPC, in one pass over all hosts."""
    lock, links = environment.allocations, defaultdict[str, dict[str, dict[str, Network]]](lambda: defaultdict(dict))
    if lock.addresses:
        at = running_dpu(environment)
        names = {
            placed.cluster.name: placed.cluster.vpc for placed in clusters(environment) if placed.cluster.vpc in vpcs
        }
        vpc_of_pool = {key: names[cluster_of(key)] for key in {*lock.hosts.values()} if cluster_of(key) in names}
        for host in environment.hosts:
            vpc, address = vpc_of_pool.get(lock.hosts.get(host.host, "")), lock.addresses.get(host.host)
            if vpc is not None and address is not None:
                links[vpc][at(host) or ""][dpu_name(host)] = link_of(address)
    return links


def addresses_of(environment: Environment, pool: str) -> Mapping[str, Address]:
    """Return the addresses of the hosts of ``pool`` (``cluster/pool``), by host; hosts without address are omitted."""
    lock = environment.allocations
    return {host: address for host, address in lock.addresses.items() if lock.hosts.get(host) == pool}
