"""BGP sessions of hosts with leaf switches, for clusters without DPUs: a contract with the operators of the switches.

Without a DPU no device of the platform filters the routes of a host, and tenants have root access to their hosts. The
leaf switches must therefore accept only the addresses of the host's cluster.
"""

from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.pools import clusters, public_addresses
from components.render.backends import NETWORK_BACKENDS
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Network, Spec
from components.specs.environment import Environment
from components.specs.keys import cluster_of


class LeafSessions(Spec):
    """Sessions of all hosts of a cluster with the leaf switches."""

    cluster: str
    tenant: str
    asn: int
    """ASN of the hosts. The sessions are eBGP on unnumbered links; the switches may have any other ASN."""
    accepts: tuple[Network, ...]
    """Networks of the routes, each a /32, that the switches accept from the hosts. They reject all other routes."""
    most_routes: int
    """Maximum number of routes from one host: one per address in ``accepts``."""
    hosts: tuple[str, ...]
    """Hosts of the cluster."""


def leaf_sessions(environment: Environment) -> Iterator[LeafSessions]:
    """Yield the sessions of each cluster whose load balancers are announced to leaf switches instead of DPUs.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    lock = environment.allocations
    for placed in clusters(environment):
        cluster, vpc = placed.cluster, placed.vpc
        announces = gives(environment, placed, Capability.LOAD_BALANCERS)
        if vpc is None or NETWORK_BACKENDS[vpc.isolation].on_dpus or not announces:
            continue
        numbers = lock.vpcs[cluster.vpc].of_cluster(cluster.name)
        public = (Network(f"{address}/32") for address in public_addresses(environment, placed))
        accepts = (*numbers.of_kind("load_balancers"), *public)
        yield LeafSessions(
            cluster=cluster.name,
            tenant=placed.tenant.tenant,
            asn=numbers.asn,
            accepts=accepts,
            most_routes=sum(network.num_addresses for network in accepts),
            hosts=tuple(
                host.host for host in environment.hosts if cluster_of(lock.hosts.get(host.host, "")) == cluster.name
            ),
        )
