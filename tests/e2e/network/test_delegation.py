"""The stack of the fleet: the real engine applies it, and the real ExternalDNS writes the zone of the fleet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dns.zone
import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.fleet.delegation import API, RELEASE
from components.render.manifest import Manifest, objects
from components.render.region.dns import NAMESPACE
from components.render.region.operators import NAMESPACE as OPERATORS
from components.specs.reading.loader import load_environment
from jacquard.engine.driver import Engine, Run
from jacquard.lab.rehearsal import crds, processes
from jacquard.lab.rehearsal.operators.network.name_server import ZONES
from jacquard.lab.rehearsal.region import Region
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.delegations import fleet_text, two_regions
from tests.support.data.environment_data import copy_data
from tests.support.network.external_dns import ExternalDns

pytestmark = pytest.mark.e2e
HOME, OTHER, ZONE = "laptop", "palmtop", "cloud.example"
STACK = f"{HOME}.fleet"
ENDPOINT = (f"{API}/v1alpha1", "DNSEndpoint")


class Fleet:
    """Two regions with the management cluster of their home, its stack, and the name server of the fleet."""

    def __init__(self, server: LocalApiServer, data: Path, region: Region, helm: Helm) -> None:
        self.data, self._server, self._region = data, server, region
        self._engine = Engine(HOME, None, {})
        self.external_dns = ExternalDns(server, helm, region)

    def up(self) -> Run:
        """Apply the stack of the fleet."""
        self._engine.prepare(STACK)
        return self._engine.run("up", STACK, "--yes", "--skip-preview")

    def install(self, release: Manifest) -> None:
        """Install the CRDs of the chart, as the release of the foundation does, and run the pod of ``release``."""
        crds.install(self._server.api, [crds.prepared(body) for body in self.external_dns.definitions(release)])
        self._server.namespace(NAMESPACE)
        self._server.namespace(OPERATORS)
        self.external_dns.install(release, "fleet-dns-key")

    def endpoints(self) -> set[str]:
        """Return the names of all DNSEndpoints."""
        return {item["metadata"]["name"] for item in self._server.api.list(*ENDPOINT)}

    def records(self) -> set[str]:
        """Return the records of the zone of the fleet, without ownership records and those of every zone."""
        return {" ".join(record) for record in self._records() if record[0] != ZONE and record[1] in {"A", "NS"}}

    def hidden(self, zone: str) -> set[str]:
        """Return the names below a delegated zone, where no resolver would find them."""
        return {name for name, _, _ in self._records() if name.endswith(f".{zone}")}

    def _records(self) -> set[tuple[str, str, str]]:
        """Return name, type and value of each record of the zone; none before the first update."""
        path = self._region.folder / ZONES / ZONE
        if not path.exists():
            return set()
        return {
            (name.to_text(omit_final_dot=True), kind.rdtype.name, str(one))
            for name, kind in dns.zone.from_text(path.read_text(), ZONE, relativize=False).iterate_rdatasets()
            for one in kind
        }


def is_release(item: Manifest) -> bool:
    return item.kind == "HelmRelease"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    data = copy_data(folder / "environments", HOME)
    two_regions(data)
    environment = load_environment(HOME, data)
    [part] = (item for item in slices(environment) if item.kind == "fleet")
    [release] = (item for item in objects(manifests(environment, part)) if item.name == RELEASE and is_release(item))
    region, helm = Region(HOME, folder / "region"), Helm(folder / "helm", environment.versions.kubernetes[-1])
    server = LocalApiServer(folder / "server", kinds=("HelmRelease",), controllers=("garbage-collector-controller",))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JACQUARD_ENVIRONMENTS", str(data))
        patched.setenv("JACQUARD_HOME", str(folder / "home"))
        patched.setattr(Region, "kubeconfig", lambda *_: server.kubeconfig)
        paths.kubeconfigs(HOME).mkdir(parents=True)
        (paths.kubeconfigs(HOME) / "management.yaml").write_text(server.kubeconfig.read_text())
        try:
            found = Fleet(server, data, region, helm)
            found.install(release)
            yield found
        finally:
            processes.kill(processes.running(region.folder))
            server.stop()


def test_the_zones_of_all_regions_are_delegated(fleet: Fleet) -> None:
    fleet.external_dns.write(ZONE, "www", "A", "192.0.2.80")

    first, second = fleet.up(), fleet.up()

    assert first.code == 0, first.tail
    assert (second.code, second.progress.changes) == (0, {})
    wanted = {
        "laptop.cloud.example NS ns1-laptop.cloud.example.",
        "palmtop.cloud.example NS ns.provider.example.",
        "ns1-laptop.cloud.example A 198.18.0.53",
        "www.cloud.example A 192.0.2.80",
    }
    fleet.external_dns.wait(lambda: fleet.records() == wanted, f"{wanted} are the records, and not {fleet.records()}")
    assert fleet.hidden("laptop.cloud.example") == set()


def test_the_delegation_of_a_retired_region_is_deleted(fleet: Fleet) -> None:
    fleet_text(fleet.data, other="{status: retired, jurisdictions: [us]}")

    outcome = fleet.up()

    assert outcome.code == 0, outcome.tail
    assert fleet.endpoints() == {"name-servers", "zone-laptop"}
    wanted = {
        "laptop.cloud.example NS ns1-laptop.cloud.example.",
        "ns1-laptop.cloud.example A 198.18.0.53",
        "www.cloud.example A 192.0.2.80",
    }
    fleet.external_dns.wait(lambda: fleet.records() == wanted, f"{wanted} are the records, and not {fleet.records()}")


def test_the_controller_reports_the_applied_generation(fleet: Fleet) -> None:
    ref = ObjectRef(*ENDPOINT, "zone-laptop", "external-dns")

    body = fleet.external_dns.api.get(ref)

    assert body is not None
    assert body["status"]["observedGeneration"] == body["metadata"]["generation"]
