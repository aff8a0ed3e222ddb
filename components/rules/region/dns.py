"""Rules about DNS: separation of names within the zone, and reachability of the name server."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, clusters, place, problem
from components.render.region.dns import domain_of
from components.rules.rule import Rules
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
    """Report a name server that the DNS controller cannot reach, or with an address of a tenant."""
    dns, networks = environment.region.dns, environment.region.networks
    for name, why in _KEPT_FROM.items() if dns else ():
        network = getattr(networks, name)
        if dns and dns.server in network:
            there = place(environment, REGION, ("networks", name))
            text = f"{dns.server} is in networks.{name} ({network}, {there}), {why}; pick another address of the server"
            yield problem(environment, REGION, _SERVER, text)


RULES = Rules(data=(control_plane_names, name_server))
