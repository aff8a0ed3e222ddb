"""Records of the zone of the fleet, and the scope of the ExternalDNS that writes them."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.fleet.delegation import DelegationInput
from components.render.manifest import Manifest
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.dns import DnsSpec

DNS = FleetDnsSpec.model_validate({"zone": "cloud.example", "home": "one", "server": "192.0.2.53"})


def region(name: str, *servers: dict[str, str]) -> DnsSpec:
    values = {"zone": f"{name}.cloud.example", "server": "10.0.0.53", "name_servers": servers}
    return DnsSpec.model_validate(values)


@pytest.fixture
def rendered() -> tuple[Manifest, ...]:
    regions = {
        "two": region("two", {"name": "ns2.provider.example"}, {"name": "ns1.provider.example"}),
        "one": region("one", {"name": "ns-one.cloud.example", "address": "192.0.2.7"}),
        "three": region("three", {"name": "ns-one.cloud.example", "address": "192.0.2.7"}),
    }
    return DelegationInput(name="one", dns=DNS, regions=regions).render()


def endpoints(rendered: tuple[Manifest, ...]) -> dict[str, list[dict[str, Any]]]:
    return {item.name: item.body["spec"]["endpoints"] for item in rendered if item.kind == "DNSEndpoint"}


def test_each_zone_is_delegated_to_the_name_servers_of_its_region(rendered: tuple[Manifest, ...]) -> None:
    found = endpoints(rendered)

    assert [*found] == ["name-servers", "zone-one", "zone-three", "zone-two"]
    assert found["zone-two"] == [
        {
            "dnsName": "two.cloud.example",
            "recordType": "NS",
            "recordTTL": 300,
            "targets": ["ns1.provider.example", "ns2.provider.example"],
        }
    ]


def test_a_name_server_of_two_regions_has_one_address_record(rendered: tuple[Manifest, ...]) -> None:
    [record] = endpoints(rendered)["name-servers"]

    assert (record["dnsName"], record["recordType"], record["targets"]) == ("ns-one.cloud.example", "A", ["192.0.2.7"])


def test_without_name_servers_in_the_zone_there_are_only_delegations() -> None:
    alone = DelegationInput(name="one", dns=DNS, regions={"two": region("two", {"name": "ns.provider.example"})})

    assert [*endpoints(alone.render())] == ["zone-two"]


def test_external_dns_reads_endpoints_of_its_namespace_and_writes_the_zone_of_the_fleet_only(
    rendered: tuple[Manifest, ...],
) -> None:
    [release] = (item for item in rendered if item.kind == "HelmRelease")
    values = release.body["spec"]["values"]

    assert (values["sources"], values["namespaced"], values["rbac"]) == (["crd"], True, {"create": False})
    assert (values["domainFilters"], values["extraArgs"]["rfc2136-zone"]) == (["cloud.example"], "cloud.example")
    assert {item.namespace for item in rendered if item.kind != "HelmRelease"} == {"external-dns"}
    assert not [item for item in rendered if item.kind.startswith("ClusterRole")]


def test_ownership_records_are_beside_their_names(rendered: tuple[Manifest, ...]) -> None:
    [release] = (item for item in rendered if item.kind == "HelmRelease")
    prefix = release.body["spec"]["values"]["txtPrefix"]

    assert "." not in prefix.replace("%{record_type}", "ns")
