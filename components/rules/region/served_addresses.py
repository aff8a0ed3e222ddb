"""Checks that the addresses of services which every VPC reaches have in common."""

from collections.abc import Iterator

from components.lookups.network.served import served_addresses
from components.lookups.numbers import as_block, hosts_of
from components.lookups.pools import DataPath, place, problem
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, dotted

SERVED_FROM = "control_plane_vips"
"""Closed network whose addresses the management cluster announces, and for which VPCs have a route."""


def not_announced(environment: Environment, path: DataPath, address: Address, remedy: str) -> Iterator[Problem]:
    """Yield a problem for an address outside the network that the management cluster announces."""
    served = getattr(environment.region.networks, SERVED_FROM)
    if address not in served:
        there = place(environment, REGION, ("networks", SERVED_FROM))
        text = (
            f"{address} is outside networks.{SERVED_FROM} ({served}, {there}), whose addresses the management cluster"
        )
        yield problem(environment, REGION, path, f"{text} announces; {remedy}")


def not_a_host(environment: Environment, path: DataPath, address: Address) -> Iterator[Problem]:
    """Yield a problem for the first or last address of the network that the management cluster announces."""
    served = getattr(environment.region.networks, SERVED_FROM)
    if address in served and as_block(address) not in hosts_of(served):
        there = f"networks.{SERVED_FROM} ({place(environment, REGION, ('networks', SERVED_FROM))})"
        text = f"{address} is the first or last of {there}, not a host address; pick another"
        yield problem(environment, REGION, path, text)


def taken(environment: Environment, path: DataPath, address: Address) -> Iterator[Problem]:
    """Yield problems for an address that a control plane has, or a service of an earlier path."""
    for other, used in served_addresses(environment.region).items():
        if other == path:
            break
        if used == address:
            text = f"{address} is {dotted(other)} ({place(environment, REGION, other)}); pick another address"
            yield problem(environment, REGION, path, text)
    for cluster, numbers in environment.allocations.clusters.items():
        if numbers.vip == address:
            at = place(environment, ALLOCATIONS, ("clusters", cluster))
            text = f"{address} is the address of control plane {cluster} ({at}); pick another address"
            yield problem(environment, REGION, path, text)
