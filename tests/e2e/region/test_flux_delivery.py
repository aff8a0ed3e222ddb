"""The Flux layout at real Flux controllers: order, readiness, tenant clusters, marked objects and removed slices.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from jacquard.delivery.layout import Layout, Part, Phase, layout
from jacquard.lab.rehearsal import crds
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.add_ons.flux_controllers import FluxControllers, kubeconfig_of, reported_ready
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

REGION, FOLDER = "laptop", "regions/laptop"
FIRST = f"{FOLDER}/delivery/kustomization-{REGION}.yaml"
"""The only file that users apply manually."""


class Delivered:
    """The region delivered by Flux: API servers of the management cluster and of tenant clusters."""

    def __init__(self, flux: FluxControllers, inside: dict[str, LocalApiServer], parts: Layout) -> None:
        self.flux, self.inside, self.parts = flux, inside, parts

    def api(self, cluster: str) -> ApiServer:
        """Return the API server of a cluster."""
        return self.flux.api if cluster == MANAGEMENT else self.inside[cluster].api

    def live(self, part: Part) -> dict[ObjectRef, dict[str, Any] | None]:
        """Return the live objects of a part; None for missing ones."""
        api = self.api(part.cluster)
        refs = [ObjectRef(item.api_version, item.kind, item.name, item.namespace) for item in part.objects]
        return {ref: api.get(ref) for ref in refs}

    def versions(self) -> dict[tuple[str, ObjectRef], str]:
        """Return the ``resourceVersion`` of each object, except those with Flux's own state."""
        return {
            (part.cluster, ref): (body or {})["metadata"]["resourceVersion"]
            for part in self.parts.parts
            for ref, body in self.live(part).items()
            if not ref.api_version.partition("/")[0].endswith(".toolkit.fluxcd.io")
        }

    def wait_applied(self, *slices: str) -> None:
        """Wait until all objects of slices exist."""
        for part in self.of_slice(*slices):
            self.flux.until(lambda objects=part: all(self.live(objects).values()), f"{part.path} is applied")

    def of_slice(self, *names: str) -> list[Part]:
        """Return the parts of slices."""
        return [part for part in self.parts.parts if part.slice_name in names]

    def file(self, kind: str, name: str) -> Path:
        """Return the file of an object in the repository."""
        [found] = (self.flux.repository / FOLDER).rglob(f"{kind.lower()}-{name}.yaml")
        return found


def ref_of(file: Path) -> ObjectRef:
    return ObjectRef.of(yaml.safe_load(file.read_bytes()))


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivered]:
    environment, folder = reference(REGION), tmp_path_factory.mktemp("flux")
    names = (MANAGEMENT, *(placed.cluster.name for placed in clusters(environment)))
    servers = {name: LocalApiServer(folder / name, kinds=()) for name in names}
    flux = None
    try:
        flux = FluxControllers(folder, servers[MANAGEMENT])
        inside = {name: server for name, server in servers.items() if name != MANAGEMENT}
        for name, server in inside.items():
            kinds = crds.definitions(name)
            crds.install(server.api, kinds)
        yield Delivered(flux, inside, layout(environment))
    except ToolchainError as error:
        pytest.skip(f"NO FLUX: {error}; make test-nightly builds it")
    finally:
        for stopped in (*filter(None, [flux]), *servers.values()):
            stopped.stop()


def test_one_kustomization_contains_the_releases_that_install_kinds(delivered: Delivered) -> None:
    flux = delivered.flux
    rendered = ("render", REGION, "--out", str(flux.repository / FOLDER), "--gitops", "flux", "--path", FOLDER)
    subprocess.run([sys.executable, "-m", "jacquard", *rendered], cwd=paths.ROOT, check=True)
    flux.commit()
    flux.api.apply(yaml.safe_load((flux.repository / FIRST).read_bytes()), field_manager="kubectl")

    flux.until(lambda: "foundation-base" in flux.ready(), "the first phase is applied")

    flux.until(
        lambda: "no matches for kind" in flux.kustomizations()["foundation-installers"].get("message", ""),
        "the API server does not know the kinds of the second phase",
    )
    assert flux.kustomizations()["tenant-acme-base"]["reason"] == "DependencyNotReady"


def test_a_phase_is_applied_after_its_kinds_are_served_and_tenants_wait_for_the_operators(delivered: Delivered) -> None:
    flux = delivered.flux
    known = crds.definitions(MANAGEMENT)
    crds.install(flux.api, [crd for crd in known if not crd["spec"]["group"].endswith(".toolkit.fluxcd.io")])
    flux.reconcile("foundation-installers")

    flux.until(lambda: "foundation-installers" in flux.ready(), "the second phase is applied")
    [*_, last] = delivered.of_slice("foundation")
    flux.until(lambda: all(delivered.live(last).values()), "the last phase is applied")

    assert flux.kustomizations()["foundation-objects"]["status"] != "True", "nothing is ready yet"
    assert not any(
        body for part in delivered.of_slice("tenant-acme", "tenant-globex") for body in delivered.live(part).values()
    )


def test_hosts_and_tenants_follow_when_operators_are_ready(delivered: Delivered) -> None:
    flux = delivered.flux
    [*_, last] = delivered.of_slice("foundation")
    reported_ready(flux.api, last.awaited)
    flux.until(lambda: {"inventory-a-objects", "tenant-globex-installers"} <= flux.ready(), "tenants are applied")
    delivered.wait_applied("inventory-a", "tenant-acme", "tenant-globex")

    waiting = {name for name in flux.kustomizations() if "cluster-" in name}
    assert not waiting & flux.ready(), "control planes are not available"


def test_objects_of_tenant_clusters_follow_when_control_planes_are_available(delivered: Delivered) -> None:
    flux = delivered.flux
    for name, server in delivered.inside.items():
        flux.api.create(kubeconfig_of(server, name), field_manager="kamaji")
    for part in delivered.of_slice("tenant-acme", "tenant-globex"):
        reported_ready(flux.api, part.awaited)
    delivered.wait_applied("cluster-acme-train", "cluster-globex-lab")
    for part in delivered.of_slice("cluster-acme-train", "cluster-globex-lab"):
        reported_ready(delivered.api(part.cluster), part.awaited)

    flux.until(lambda: flux.ready() == set(flux.kustomizations()), "all Kustomizations are ready")

    assert len(flux.ready()) == len(delivered.parts.parts) + 2
    assert [ref for part in delivered.parts.parts for ref, body in delivered.live(part).items() if body is None] == []


def test_the_next_commit_writes_no_object_that_it_does_not_change(delivered: Delivered) -> None:
    flux, before = delivered.flux, delivered.versions()
    (flux.repository / "README.md").write_text("Regions.\n")

    revision = flux.commit()
    flux.until(lambda: flux.ready(revision) == set(flux.kustomizations()), "all Kustomizations have the commit")

    assert delivered.versions() == before


def test_a_host_powered_off_by_cluster_api_stays_off(delivered: Delivered) -> None:
    flux = delivered.flux
    [hosts] = [part for part in delivered.of_slice("inventory-a") if part.phase is Phase.OBJECTS]
    host = next(ref for ref in delivered.live(hosts) if ref.kind == "BareMetalHost")
    flux.api.patch(host, {"spec": {"online": False}}, field_manager="cluster-api-provider-metal3")
    (flux.repository / "README.md").write_text("Regions of GPUs.\n")

    revision = flux.commit()
    flux.until(lambda: "inventory-a-objects" in flux.ready(revision), "hosts have the commit")

    assert (flux.api.get(host) or {})["spec"]["online"] is False


def test_removed_objects_are_deleted_except_marked_ones(delivered: Delivered) -> None:
    flux, repository = delivered.flux, delivered.flux.repository / FOLDER
    hosts = sorted(repository.rglob("baremetalhost-*.yaml"))[:1]
    classes = sorted(repository.rglob("storageclass-*.yaml"))[:1]
    budgets = sorted(repository.rglob("poddisruptionbudget-*.yaml"))
    marked = [(MANAGEMENT, ref_of(hosts[0])), (classes[0].relative_to(repository).parts[1], ref_of(classes[0]))]
    pruned = [(file.relative_to(repository).parts[1], ref_of(file)) for file in budgets]
    for file in (*hosts, *classes, *budgets):
        file.unlink()

    revision = flux.commit()
    flux.until(lambda: flux.ready(revision) == set(flux.kustomizations()), "all Kustomizations have the commit")

    assert pruned
    assert [ref for cluster, ref in pruned if delivered.api(cluster).get(ref)] == []
    assert [ref for cluster, ref in marked if not delivered.api(cluster).get(ref)] == []


def test_objects_of_a_removed_slice_are_kept(delivered: Delivered) -> None:
    flux, repository = delivered.flux, delivered.flux.repository / FOLDER
    removed = delivered.of_slice("tenant-globex", "cluster-globex-lab")
    before = {ref: body for part in removed for ref, body in delivered.live(part).items() if body}
    for name in ("tenant-globex", "cluster-globex-lab"):
        shutil.rmtree(repository / name)
        for file in repository.glob(f"delivery*/kustomization-*{name}-*.yaml"):
            file.unlink()

    flux.commit()
    flux.until(lambda: not any("globex" in name for name in flux.kustomizations()), "Kustomizations are deleted")

    after = {ref for part in removed for ref, body in delivered.live(part).items() if body}
    assert after == set(before)
