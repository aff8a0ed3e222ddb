"""Rules about the DNS zone of the fleet: its home, the zones below it, and the name servers that it delegates to.

Rules of an environment apply in the home of the zone, whose stack renders it from the data of all regions.
"""

from collections.abc import Iterator, Sequence

from components.lookups.pools import DataPath, place, problem
from components.rules.fleet.fleet import Found
from components.rules.region.dns import outside_networks
from components.rules.rule import Rules
from components.specs.base import Address, Domain
from components.specs.environment import Environment
from components.specs.fleet.fleet import RegionStatus
from components.specs.reading.fleet import NAME, Fleet
from components.specs.reading.loader import FLEET, REGION, region_file
from components.specs.reading.problems import Problem, listed, suggestion
from components.specs.region.state import StackLayout

_HOME: DataPath = ("dns", "home")
_ZONE: DataPath = ("dns", "zone")
_SERVERS: DataPath = ("dns", "name_servers")


def homes(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:  # noqa: ARG001 - a rule
    """Report a home of the zone that is no region of the fleet, or is retired: no stack would apply the zone."""
    if fleet.spec is None or fleet.spec.dns is None:
        return
    home, regions = fleet.spec.dns.home, fleet.regions
    entry = regions.get(home)
    if entry is None:
        near = suggestion(home, regions) or f"; write one of {listed(regions)}"
        yield NAME, fleet.problem(FLEET, _HOME, f"'{home}' is not in regions{near}")
    elif entry.status is RegionStatus.RETIRED:
        there = fleet.place(FLEET, ("regions", home, "status"))
        yield NAME, fleet.problem(FLEET, _HOME, f"'{home}' is retired ({there}); write another region")


def home(environment: Environment) -> Iterator[Problem]:
    """Report a home without slices or without DNS.

    The objects of the fleet have a stack of their own, and use the namespace and the CRDs of the region's ExternalDNS.
    """
    if environment.fleet_dns is None:
        return
    region = environment.region
    if region.stacks is StackLayout.WHOLE:
        there = place(environment, REGION, ("stacks",))
        text = f"'{environment.name}' is one stack ({there}), but the objects of the fleet have a stack of their own;"
        yield problem(environment, FLEET, _HOME, f"{text} write a region with stacks: sliced")
    if region.dns is None or region.control_planes.domain is None:
        text = f"'{environment.name}' has no dns, with which ExternalDNS is installed; write a region with dns"
        yield problem(environment, FLEET, _HOME, text)


def server(environment: Environment) -> Iterator[Problem]:
    """Report a name server of the zone that ExternalDNS cannot reach, or with an address of a tenant."""
    if environment.fleet_dns:
        yield from outside_networks(environment, FLEET, ("dns", "server"), environment.fleet_dns.server)


def zones(environment: Environment) -> Iterator[Problem]:
    """Report zones of regions that are not below the zone of the fleet, which cannot delegate them."""
    for name, dns in environment.delegated.items() if environment.fleet_dns else ():
        parent = environment.fleet_dns.zone if environment.fleet_dns else ""
        if not dns.zone.endswith(f".{parent}"):
            there = place(environment, FLEET, _ZONE)
            text = f"'{dns.zone}' is not below the zone of the fleet ({parent}, {there}); write {name}.{parent}"
            yield problem(environment, _file(environment, name), _ZONE, text)


def name_servers(environment: Environment) -> Iterator[Problem]:
    """Report regions without name servers, and name servers that no resolver would find.

    The zone of the fleet has the address of a name server in this zone. ExternalDNS cannot write addresses of names
    below the zone of a region: its ownership records would be hidden there.
    """
    if environment.fleet_dns is None:
        return
    parent = environment.fleet_dns.zone
    for name, dns in environment.delegated.items():
        file, model = _file(environment, name), f"ns1-{name}.{parent}"
        if not dns.name_servers:
            there = place(environment, FLEET, _ZONE)
            text = (
                f"is required, because the zone of the fleet ({parent}, {there}) delegates {dns.zone} to them; write"
                f" name_servers: [{{name: {model}, address: ADDRESS}}]"
            )
            yield problem(environment, file, _SERVERS, text)
        for index, item in enumerate(dns.name_servers):
            path, inside = (*_SERVERS, index), item.name.endswith(f".{parent}")
            if hidden := _zone_of(environment, item.name):
                text = f"'{item.name}' is in the delegated zone {hidden}; write a name beside it, such as {model}"
                yield problem(environment, file, (*path, "name"), text)
            elif inside and item.address is None:
                text = f"is required, because {item.name} is in the zone of the fleet ({parent}); write its address"
                yield problem(environment, file, (*path, "address"), text)
            elif not inside and item.address is not None:
                text = f"{item.address} is never used, because {item.name} is not below {parent}; remove it"
                yield problem(environment, file, (*path, "address"), text)


def name_server_addresses(environment: Environment) -> Iterator[Problem]:
    """Report a name server with different addresses in two regions: the zone of the fleet has one record of a name."""
    first: dict[Domain, tuple[Address, str]] = {}
    for name, dns in environment.delegated.items():
        for index, item in enumerate(dns.name_servers):
            if item.address is None:
                continue
            file, path = _file(environment, name), (*_SERVERS, index, "address")
            address, there = first.setdefault(item.name, (item.address, place(environment, file, path)))
            if address != item.address:
                text = f"{item.address} of {item.name} is {address} in {there}; write one address, or another name"
                yield problem(environment, file, path, text)


def _file(environment: Environment, region: str) -> str:
    return REGION if region == environment.name else region_file(region)


def _zone_of(environment: Environment, name: Domain) -> Domain | None:
    """Return the delegated zone that contains ``name``; None if there is none."""
    zones = (dns.zone for dns in environment.delegated.values())
    return next((zone for zone in zones if f".{name}".endswith(f".{zone}")), None)


RULES = Rules(data=(home, server, zones, name_servers, name_server_addresses))
FLEET_RULES = (homes,)
"""Rules about the fleet and its regions."""
