"""Rules about DNS: separation of names within the zone, and reachability of the name server."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, clusters, place, problem
from components.render.region.dns import domain_of
from components.rules.rule import Rules
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_DOMAIN: DataPath = ("control_planes", "domain")
_SERVER: DataPath = ("dns", "server")
_KEPT_FROM = {
    "bmc": "which only hardware controllers reach",
    "control_plane_vips": "reserved for control planes",
    "tenants": "where addresses belong to tenants",
}


def control_plane_names(environment: Environment) -> Iterator[Problem]:
    """Report control planes without a separate domain within the zone.

    Tenants choose the names below their cluster's name, so names of control planes must not be below it.
    """
    region = environment.region
    dns, domain = region.dns, region.control_planes.domain
    if dns is None:
        return
    there = f"dns.zone ({dns.zone}, {place(environment, REGION, ('dns', 'zone'))})"
    if domain is None:
        yield problem(environment, REGION, _DOMAIN, f"is required with dns; write api.{dns.zone}")
        return
    if not domain.endswith(f".{dns.zone}"):
        yield problem(environment, REGION, _DOMAIN, f"'{domain}' is not below {there}; write api.{dns.zone}")
        return
    for placed in clusters(environment):
        name = placed.cluster.name
        if f".{domain}".endswith(f".{domain_of(name, dns)}"):
            text = (
                f"'{domain}' contains the names of Services of cluster {name}"
                f" ({place(environment, placed.file, placed.path)}); pick another label before {dns.zone}"
            )
            yield problem(environment, REGION, _DOMAIN, text)


def name_server(environment: Environment) -> Iterator[Problem]:
    """Report a name server that the DNS controller or clients cannot reach, or with an address of a tenant."""
    dns = environment.region.dns
    if dns is None:
        return
    yield from outside_networks(environment, REGION, _SERVER, dns.server)
    for index, server in enumerate(dns.name_servers):
        if server.address is not None:
            path = ("dns", "name_servers", index, "address")
            yield from outside_networks(environment, REGION, path, server.address)


def outside_networks(environment: Environment, file: str, path: DataPath, address: Address) -> Iterator[Problem]:
    """Report the ``address`` of a name server, at ``path`` of ``file``, in a network of the region for other use."""
    networks = environment.region.networks
    for name, why in _KEPT_FROM.items():
        network = getattr(networks, name)
        if address in network:
            there = place(environment, REGION, ("networks", name))
            text = f"{address} is in networks.{name} ({network}, {there}), {why}; pick another address of the server"
            yield problem(environment, file, path, text)
    for index, network in enumerate(networks.public):
        if address in network:
            there = place(environment, REGION, ("networks", "public", index))
            text = f"{address} is in networks.public ({network}, {there}), where addresses belong to tenants; pick"
            yield problem(environment, file, path, f"{text} another address of the server")


RULES = Rules(data=(control_plane_names, name_server))
