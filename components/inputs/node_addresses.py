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
    """Return the links of hosts with an address in ``vpcs``, by VPC."""
    links = defaultdict[str, dict[str, dict[str, Network]]](lambda: defaultdict(dict))
    addresses, at = environment.allocations.addresses, running_dpu(environment)
    vpc_of = {placed.cluster.name: placed.cluster.vpc for placed in clusters(environment)}
    for pool, hosts in environment.hosts_by_pool.items():
        vpc = vpc_of.get(cluster_of(pool))
        if vpc is not None and vpc in vpcs:
            for host in hosts:
                if (address := addresses.get(host.host)) is not None:
                    links[vpc][at(host) or ""][dpu_name(host)] = link_of(address)
    return links


def addresses_of(environment: Environment, pool: str) -> Mapping[str, Address]:
    """Return the addresses of the hosts of ``pool`` (``cluster/pool``), by host; hosts without address are omitted."""
    addresses, hosts = environment.allocations.addresses, environment.hosts_by_pool.get(pool, ())
    return {host.host: addresses[host.host] for host in hosts if host.host in addresses}
