"""ExternalDNS in the local region: written names, prerequisites, and names that a tenant cannot write."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from components.render.fleet.delegation import DelegationInput
from components.render.region.dns import ClusterDnsInput
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.dns import DnsSpec
from jacquard.lab.rehearsal.operators.network import dns as operator
from jacquard.lab.rehearsal.operators.releases.helm import FLUX_NAME, FLUX_NAMESPACE
from jacquard.lab.rehearsal.operators.releases.installed import SOURCE
from jacquard.lab.rehearsal.operators.view import simulated_secret
from jacquard.lab.toolchain import binaries
from tests.support.objects.live_objects import obj

ZONE = "here.example"
DNS = DnsSpec(zone=ZONE, server=IPv4Address("10.0.0.53"))
NAMES = ClusterDnsInput(name="acme", cluster="acme", region="here", dns=DNS, addresses=(IPv4Network("10.65.0.0/26"),))
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
CHART = obj(SOURCE, "OCIRepository", "external-dns", {"url": "oci://registry.example/charts/external-dns"}, "operators")
KEY = simulated_secret("dns-key", "acme", ["keyname", "secret"])
KUBECONFIG = simulated_secret("acme-kubeconfig", "acme", ["value"])
OWN = "10.65.0.1"
HOST_NAME, TARGET = (f"external-dns.alpha.kubernetes.io/{one}" for one in ("hostname", "target"))


def management(objects: Any, *there: Any) -> Any:
    [release] = NAMES.render()
    return objects(CHART, {**release.body, **READY}, *there)


def service(names: str, address: str = OWN, name: str = "web", **annotations: str) -> dict[str, Any]:
    asked = {HOST_NAME: names, **annotations}
    given = {"loadBalancer": {"ingress": [{"ip": address}]}}
    spec = {"type": "LoadBalancer"}
    return obj("v1", "Service", name, spec, "shop", metadata={"annotations": asked}, status=given)


class Played:
    """A management cluster, a tenant's cluster and the zone, for any number of rounds."""

    def __init__(self, folder: Path, here: Any, there: Any) -> None:
        self.folder, self.here, self.there = folder, here, there

    def round(self) -> dict[str, list[str]]:
        """Run one round and return the addresses of all names."""
        operator.reconcile(self.folder, self.here, {"acme": self.there}.get)
        path = self.folder / operator.NAMES
        zone = json.loads(path.read_text()) if path.exists() else {}
        return {name: one["addresses"] for name, one in zone.items()}

    def reported(self) -> list[tuple[str, str]]:
        events = self.there.all("events.k8s.io/v1", "Event")
        return [(one["regarding"]["name"], one["reason"]) for one in events]


@pytest.fixture
def played(objects: Any, tmp_path: Path) -> Any:
    """Return a function that starts with these objects of the tenant, and all prerequisites of ExternalDNS."""
    return lambda *there: Played(tmp_path, management(objects, KEY, KUBECONFIG), objects(*there))


def test_a_service_that_requests_a_name_gets_it_with_one_event(played: Any) -> None:
    region = played(service(f"web.acme.{ZONE}, *.web.acme.{ZONE}"))

    assert region.round() == {f"web.acme.{ZONE}": [OWN], f"*.web.acme.{ZONE}": [OWN]}
    assert region.round()
    assert region.reported() == [("web", "RecordReady")] * 2


def test_an_ingress_has_the_names_of_its_hosts(played: Any) -> None:
    given = {"loadBalancer": {"ingress": [{"ip": OWN}]}}
    rules = {"rules": [{"host": f"shop.acme.{ZONE}"}, {"host": "shop.example.org"}]}

    region = played(obj("networking.k8s.io/v1", "Ingress", "shop", rules, "shop", status=given))

    assert region.round() == {f"shop.acme.{ZONE}": [OWN]}


def test_a_name_follows_its_address_and_is_deleted_with_it(played: Any) -> None:
    region = played(service(f"web.acme.{ZONE}"))
    region.round()

    region.there.status(service(""), {"loadBalancer": {"ingress": [{"ip": "10.65.0.2"}]}})
    assert region.round() == {f"web.acme.{ZONE}": ["10.65.0.2"]}

    region.there.delete(service(""))
    assert region.round() == {}


@pytest.mark.parametrize(
    "asking",
    [
        service(f"web.globex.{ZONE}"),
        service(f"acme.api.{ZONE}"),
        service(f"www.{ZONE}\t60\tA\t{OWN}\t;.acme.{ZONE}"),
        service(f"web.acme.{ZONE}", address="10.64.0.9"),
        service(f"web.acme.{ZONE}", **{TARGET: "192.0.2.1"}),
        service(f"web.acme.{ZONE}", **{TARGET: "elsewhere.example"}),
        {**service(f"web.acme.{ZONE}"), "spec": {"type": "ClusterIP"}},
        {**service(f"web.acme.{ZONE}"), "status": {}},
        service(f"web.acme.{ZONE}", **{"external-dns.alpha.kubernetes.io/controller": "another"}),
    ],
    ids=[
        "another's name",
        "a control plane's name",
        "two records in one text",
        "another's address",
        "an address of its own choice",
        "an alias",
        "no load balancer",
        "no address yet",
        "somebody else writes it",
    ],
)
def test_invalid_sources_are_not_written(played: Any, asking: Any) -> None:
    region = played(asking)

    assert (region.round(), region.reported()) == ({}, [])


def test_a_name_written_by_others_is_kept(played: Any) -> None:
    region = played(service(f"web.acme.{ZONE}"))
    theirs = {f"web.acme.{ZONE}": {"addresses": ["10.0.0.9"], "owner": "by hand"}}
    (region.folder / operator.NAMES).write_text(json.dumps(theirs))

    assert region.round() == {f"web.acme.{ZONE}": ["10.0.0.9"]}

    region.there.delete(service(""))
    assert region.round() == {f"web.acme.{ZONE}": ["10.0.0.9"]}


@pytest.mark.parametrize(
    "there",
    [[KUBECONFIG], [simulated_secret("dns-key", "acme", ["secret"]), KUBECONFIG], [KEY]],
    ids=["no key", "a key without its name", "no kubeconfig"],
)
def test_nothing_is_written_before_its_pod_can_start(objects: Any, tmp_path: Path, there: Any) -> None:
    region = Played(tmp_path, management(objects, *there), objects(service(f"web.acme.{ZONE}")))

    assert region.round() == {}


def test_a_release_whose_pods_run_the_real_one_is_left_to_it(played: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "path", Path)
    image = "registry.k8s.io/external-dns/external-dns:v0.21.0"
    spec = {"template": {"spec": {"containers": [{"image": image}]}}}
    labels = {FLUX_NAME: "external-dns", FLUX_NAMESPACE: "acme"}
    brought = obj("apps/v1", "Deployment", "external-dns", spec, "acme", metadata={"labels": labels})
    region = played(service(f"web.acme.{ZONE}"))
    region.here.apply(brought)

    assert region.round() == {}


def test_names_stay_while_their_cluster_does_not_answer(played: Any) -> None:
    region = played(service(f"web.acme.{ZONE}"))
    before = region.round()

    region.there = None
    assert region.round() == before


def test_records_of_endpoints_are_written_and_deleted_with_them(objects: Any, tmp_path: Path) -> None:
    spec = {"zone": ZONE, "home": "here", "server": "10.0.0.53"}
    servers = [{"name": f"ns-one.{ZONE}", "address": "192.0.2.7"}, {"name": "ns.provider.example"}]
    zones = {"one": {"zone": f"one.{ZONE}", "server": "10.0.0.53", "name_servers": servers}}
    regions = {name: DnsSpec.model_validate(dns) for name, dns in zones.items()}
    fleet = FleetDnsSpec.model_validate(spec)

    def round_with(regions: dict[str, DnsSpec]) -> dict[str, list[str]]:
        release, *rest = DelegationInput(name="here", dns=fleet, regions=regions).render()
        key = simulated_secret("fleet-dns-key", "external-dns", ["keyname", "secret"])
        here = objects(CHART, {**release.body, **READY}, key, *(item.body for item in rest))
        operator.reconcile(tmp_path, here, lambda _: None)
        written = json.loads((tmp_path / operator.NAMES).read_text())
        return {name: one["addresses"] for name, one in written.items()}

    assert round_with(regions) == {
        f"ns-one.{ZONE}": ["192.0.2.7"],
        f"one.{ZONE}": ["ns-one.here.example", "ns.provider.example"],
    }
    assert round_with({}) == {}
