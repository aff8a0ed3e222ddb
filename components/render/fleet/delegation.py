"""Delegation of the zones of all regions in the DNS zone of the fleet, by one more ExternalDNS in the home region.

ExternalDNS reads DNSEndpoints of its own namespace only (EDNS:source/crd.go), and writes NS records of the regions and
A records of name servers. Ownership records are siblings of their names (``owner-ns-<name>``): below the name of a
delegated zone, they would be in the zone of the region, where no resolver finds them (RFC 1034, 4.2.1).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import role_for, service_account
from components.render.region.dns import CHART, NAMESPACE, chart_values
from components.render.region.operators import Operator, release
from components.specs.base import Address, Domain
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.dns import DnsSpec
from components.specs.struct import Struct

API = "externaldns.k8s.io"
RELEASE = f"{CHART}-fleet"
NAME_SERVERS = "name-servers"
"""DNSEndpoint with the addresses of name servers."""
_TTL_SECONDS = 300
"""Time for which resolvers use a former name server of a region after a change."""


class DelegationInput(Struct):
    """Delegation of the zones of all regions of the fleet with DNS."""

    name: str
    """Name of the environment whose management cluster has the objects."""
    dns: FleetDnsSpec
    regions: Mapping[str, DnsSpec]
    """DNS of each region by name."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the release of ExternalDNS, its permissions and its DNSEndpoints. The release is not awaited."""
        rules = [
            {"apiGroups": [API], "resources": ["dnsendpoints"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": [API], "resources": ["dnsendpoints/status"], "verbs": ["update"]},
            {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
        ]
        return (
            release(Operator(chart=CHART, namespace=NAMESPACE, name=RELEASE, values=_values(self.dns), awaited=False)),
            *role_for(RELEASE, rules, subject=service_account(NAMESPACE, RELEASE), namespace=NAMESPACE),
            *_endpoints(self.regions),
        )


def addresses(regions: Mapping[str, DnsSpec]) -> dict[Domain, Address]:
    """Return the addresses of name servers in the zone of the fleet, by name."""
    servers = (server for dns in regions.values() for server in dns.name_servers)
    return {server.name: server.address for server in servers if server.address is not None}


def _endpoints(regions: Mapping[str, DnsSpec]) -> Iterator[Manifest]:
    """Yield the addresses of name servers, so that no delegation refers to a missing name, then the delegations."""
    named = sorted(addresses(regions).items())
    if named:
        yield _endpoint(NAME_SERVERS, [_record(name, "A", [str(address)]) for name, address in named])
    for name, dns in sorted(regions.items()):
        yield _endpoint(f"zone-{name}", [_record(dns.zone, "NS", sorted(server.name for server in dns.name_servers))])


def _endpoint(name: str, records: list[dict[str, Any]]) -> Manifest:
    return manifest(f"{API}/v1alpha1", "DNSEndpoint", name, namespace=NAMESPACE, spec={"endpoints": records})


def _record(name: Domain, kind: str, targets: list[str]) -> dict[str, Any]:
    return {"dnsName": name, "recordType": kind, "recordTTL": _TTL_SECONDS, "targets": targets}


def _values(dns: FleetDnsSpec) -> dict[str, Any]:
    values = chart_values(dns, ["crd"], owner="fleet", prefix="owner-%{record_type}-", types=["A", "NS"], flags={})
    return {**values, "namespaced": True, "domainFilters": [dns.zone]}
