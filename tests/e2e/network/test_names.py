"""DNS records by the real ExternalDNS: its chart with the values of our releases, and signed updates over TCP.

Its pods are those of the chart. They run as in the local region (`jacquard.lab.rehearsal.operators.programs`), with the
permissions that we grant, and write to the name server of a local region. One API server represents both the management
cluster and the tenant's, so each of the two also sees the other's sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.providers.kube import ObjectRef
from tests.support.add_ons.chart_values import chart_of
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.network.external_dns import CHART, ExternalDns
from tests.support.network.zone_files import addresses_of

pytestmark = pytest.mark.e2e

CLUSTER = "acme-train"
SHOP = "shop"
HOST_NAME, TARGET = (f"external-dns.alpha.kubernetes.io/{one}" for one in ("hostname", "target"))
RIGHTS = {"ClusterRole", "ClusterRoleBinding"}


class Written:
    """An API server with the chart's objects of each release, and a name server that its pods write to."""

    def __init__(self, server: LocalApiServer, helm: Helm, region: Region) -> None:
        self.api = server.api
        self.environment = load_environment("laptop", ENVIRONMENTS)
        self._region = region
        self._dns = ExternalDns(server, helm, region)
        items = [item for item in everything(self.environment) if item.cluster == MANAGEMENT]
        releases = [item for item in items if item.kind == "HelmRelease" and chart_of(item) == CHART]
        for place in (SHOP, *(item.body["spec"]["targetNamespace"] for item in releases)):
            server.namespace(place)
        self._dns.apply(kubeconfig_secret(server.kubeconfig))
        for item in items:
            if item.kind in RIGHTS and item.name == CHART:
                self._dns.apply(item.body)
        for item in releases:
            self._dns.install(item, "dns-key")

    @property
    def zone(self) -> str:
        assert self.environment.region.dns is not None
        return self.environment.region.dns.zone

    def records(self) -> dict[str, list[str]]:
        """Return the addresses of each name below the zone."""
        return addresses_of(self._region.folder, self.zone)

    def await_records(self, wanted: dict[str, list[str]]) -> None:
        """Wait until the zone has exactly these names, while the pods write.

        Raises:
            AssertionError: The zone has other names after the timeout.
        """
        self._dns.wait(lambda: self.records() == wanted, f"{wanted} are the names, and not {self.records()}")

    def serve(self, name: str, hostname: str, address: str, **annotations: str) -> None:
        """Create a load balancer that requests a name, with its assigned address."""
        ref = ObjectRef("v1", "Service", name, SHOP)
        metadata = {"name": name, "namespace": SHOP, "annotations": {HOST_NAME: hostname, **annotations}}
        spec = {"type": "LoadBalancer", "selector": {"app": name}, "ports": [{"port": 80}]}
        self._dns.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
        status = {"status": {"loadBalancer": {"ingress": [{"ip": address}]}}}
        self.api.patch(ref, status, subresource="status", field_manager="test")

    def write(self, name: str, address: str) -> None:
        """Write a name to the name server, as a user with the key could."""
        self._dns.write(self.zone, name, "A", address)

    def event_messages(self, name: str) -> set[str]:
        """Return the events of ExternalDNS about a Service.

        Other components report there too: an API server that reads a Service before its address reports
        `ClusterIPNotAllocated` (kubernetes/kubernetes:pkg/registry/core/service/ipallocator/controller/repairip.go).
        """
        events = self.api.list("events.k8s.io/v1", "Event", namespace=SHOP)
        own = (one for one in events if one["reportingController"] == CHART)
        return {one["reason"] for one in own if one["regarding"]["name"] == name}


def kubeconfig_secret(path: Path) -> dict[str, Any]:
    """Return the Secret with the kubeconfig that ExternalDNS uses for a cluster."""
    metadata = {"name": f"{CLUSTER}-kubeconfig", "namespace": CLUSTER}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "stringData": {"value": embedded(path, CLUSTER)},
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    folder = tmp_path_factory.mktemp("names")
    helm = Helm(folder / "helm", load_environment("laptop", ENVIRONMENTS).versions.kubernetes[-1])
    server = LocalApiServer(folder / "server", kinds=())
    region = Region("laptop", folder / "region")
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Region, "kubeconfig", lambda *_: server.kubeconfig)
            yield Written(server, helm, region)
    finally:
        processes.kill(processes.running(region.folder))
        server.stop()


def test_only_permitted_names_and_addresses_are_written(written: Written) -> None:
    lock = written.environment.allocations.vpcs["acme"]
    own, vip = str(lock.load_balancers[5]), str(written.environment.region.networks.control_plane_vips[5])
    mine, domain = f"{CLUSTER}.{written.zone}", written.environment.region.control_planes.domain
    written.serve("outside", f"web.globex-lab.{written.zone}", own)
    written.serve("elsewhere", f"away.{mine}", "192.0.2.1")
    written.serve("aliased", f"aliased.{mine}", own, **{TARGET: "192.0.2.1"})
    written.serve("two-in-one", f"x\tIN\tA\t192.0.2.1;.{mine}", own)
    written.serve("plane", f"{CLUSTER}.{domain}", own)
    written.serve("web", f"web.{mine}, *.shop.{mine}", own)
    written.serve("api", f"{CLUSTER}.{domain}", vip)

    written.await_records(
        {f"web.{CLUSTER}": [own], f"*.shop.{CLUSTER}": [own], f"{CLUSTER}.api": [vip]},
    )

    assert {name: written.event_messages(name) for name in ("web", "api", "outside")} == {
        "web": {"RecordReady"},
        "api": {"RecordReady"},
        "outside": set(),
    }


def test_a_name_follows_its_address_and_is_deleted_with_its_service(written: Written) -> None:
    first, second = (str(written.environment.allocations.vpcs["acme"].load_balancers[one]) for one in (5, 6))
    before = written.records()
    name = f"moved.{CLUSTER}"

    written.serve("moved", f"{name}.{written.zone}", first)
    written.await_records({**before, name: [first]})
    written.serve("moved", f"{name}.{written.zone}", second)
    written.await_records({**before, name: [second]})
    written.api.delete(ObjectRef("v1", "Service", "moved", SHOP))

    written.await_records(before)


def test_manually_written_names_are_kept(written: Written) -> None:
    own = str(written.environment.allocations.vpcs["acme"].load_balancers[5])
    before, by_hand, after = written.records(), f"by-hand.{CLUSTER}", f"after.{CLUSTER}"
    written.write(by_hand, "192.0.2.1")

    written.serve("by-hand", f"{by_hand}.{written.zone}", own)
    written.serve("after", f"{after}.{written.zone}", own)

    written.await_records({**before, by_hand: ["192.0.2.1"], after: [own]})
