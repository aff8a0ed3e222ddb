"""Hosts of tenants and their DPUs in a fabric: links, configurations, and announced routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

import yaml

from components.inputs import tenant_network
from components.specs.environment import Environment
from tests.support.network.frr_configuration import Dpu, documents, filled

PLACES = (("ant", 0), ("ant", 1), ("bee", 0), ("cat", 0))
"""VPC and link number of each host and its DPU."""


@dataclass(frozen=True)
class Place:
    """A host and its DPU."""

    vpc: str
    loopback: str
    link: IPv4Network
    dpu: Dpu
    own: frozenset[str]
    """Announced prefixes that belong to the host."""
    foreign: frozenset[str]
    """Announced prefixes that belong to other tenants, or to no tenant."""
    attributes: tuple[str, ...]
    """Attributes of all announcements: communities of each kind, and route targets of all others."""

    @property
    def address(self) -> str:
        """Return the DPU's address on the link, with prefix length."""
        return f"{self.link[1]}/{self.link.prefixlen}"


def public_address(environment: Environment, vpc: str) -> str:
    [address] = [one for key, one in environment.allocations.public_ips.items() if key.startswith(f"{vpc}-one/")]
    return f"{address}/32"


def place(environment: Environment, number: int, texts: Mapping[str, str]) -> Place:
    """Return the host with that number: its announcements, and the configuration of its DPU."""
    vpc, link_number = PLACES[number]
    lock, networks = environment.allocations.vpcs, environment.region.networks
    numbers, others = lock[vpc], [name for name in lock if name != vpc]
    loopback = str(networks.dpu_loopbacks[number + 1])
    link = list(numbers.hosts.subnets(new_prefix=30))[link_number]
    own = {f"{numbers.load_balancers[link_number + 1]}/32", str(list(numbers.pods.subnets(new_prefix=26))[link_number])}
    theirs = {public_address(environment, name) for name in others}
    for other in (lock[name] for name in others):
        theirs |= {str(other.pods), f"{other.load_balancers[1]}/32", f"{other.hosts[2]}/32"}
    nobodys = {
        "0.0.0.0/0",
        str(networks.tenants),
        str(networks.storage),
        str(networks.public[0]),
        f"{numbers.hosts[9]}/32",
    }
    if link_number == 0:
        own.add(public_address(environment, vpc))
    settings = yaml.safe_load(filled(texts[vpc], loopback=loopback, link=f"{link[1]}/30"))[1]["set"]
    attributes = tuple(chosen(environment, vpc))
    return Place(vpc, loopback, link, Dpu(settings, vpc), frozenset(own), frozenset(theirs | nobodys), attributes)


def chosen(environment: Environment, vpc: str) -> Iterator[str]:
    """Yield attributes that a host of ``vpc`` could choose: import by all VRFs, and no export by leaf switches."""
    lock, border = environment.allocations.vpcs, environment.region.networks.border
    targets = [numbers.evpn_target for name, numbers in lock.items() if name != vpc]
    targets += border.targets if border and border.targets else ()
    yield f"extcommunity rt {' '.join(targets)}"
    yield "community no-advertise 64500:1"
    yield "large-community 64500:1:1"


def configurations(environment: Environment) -> dict[str, str]:
    """Return the rendered configuration of HBN by VPC."""
    concepts = [one for tenant in environment.tenants for one in tenant_network.of_tenant(environment, tenant)]
    return dict(documents(item for concept in concepts for item in concept.render()))
