"""A chart is promoted over three tenant clusters in two waves and rolled back, without node replacement.

Both releases of the chart are available, so the real helm renders each of them and the installed release really
changes. The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.providers.kube.objects import dig
from tests.support.add_ons.helm_charts import CHARTS
from tests.support.changes.chart_rollouts import VERSIONS, with_newer_release, with_third_cluster, with_waves
from tests.support.data.workbench import Workbench
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER_API, HELM = "cluster.x-k8s.io/v1beta2", "helm.toolkit.fluxcd.io/v2"
CLUSTERS = {"acme-train", "globex-eval", "globex-lab"}
CANARIES = {"globex-eval", "globex-lab"}
CHART, RELEASE = "node-feature-discovery", "node-features"
PROMOTED = f"charts/{CHART}"
NEW, OLD = (one.version.removeprefix("v") for one in CHARTS[CHART])
NEW_DIGEST, OLD_DIGEST = "sha256:" + "c" * 64, "sha256:" + "d" * 64


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with a third cluster, the previous release of its chart pinned, and the newer one in the catalogue."""
    local = LocalRegion(tmp_path_factory.mktemp("waves"))
    bench = Workbench(local.environments)
    with_third_cluster(bench)
    bench.edit("tenants/globex.yaml", "add_ons: [cilium]\n", f"add_ons: [cilium, {RELEASE}]\n")
    [pinned] = [one for one in load_environment(ENVIRONMENT, local.environments).versions.charts if one.name == CHART]
    bench.edit(
        VERSIONS, f'{CHART}, url: "{pinned.url}", version: {NEW}', f'{CHART}, url: "{pinned.url}", version: {OLD}'
    )
    bench.edit(VERSIONS, pinned.digest, OLD_DIGEST)
    with_newer_release(bench, CHART, NEW)
    with_waves(bench, "canary_tenants: [globex]")
    with deleted_at_exit(local):
        yield local


def promote(region: LocalRegion, *options: str) -> str:
    """Return the outcome of a promotion of the chart."""
    return region.jacquard("promote", ENVIRONMENT, PROMOTED, *options).text


def evidence(region: LocalRegion) -> str:
    """Return a file with current evidence of the region."""
    file = Path(region.environments).parent / "evidence.json"
    file.write_text(region.jacquard("status", ENVIRONMENT, "--format", "json").stdout, encoding="utf-8")
    return str(file)


def installed(region: LocalRegion) -> dict[str, str]:
    """Return the digest of the installed chart of each cluster."""
    found = region.api().list(HELM, "HelmRelease")
    return {
        body["metadata"]["namespace"]: body["status"]["history"][0]["ociDigest"]
        for body in found
        if body["metadata"]["name"] == RELEASE
    }


def runs(region: LocalRegion) -> dict[str, tuple[str, str]]:
    """Return for each cluster the release of its running master, by image, and Helm's latest revision."""
    found = {}
    for cluster in sorted(CLUSTERS):
        api = region.api(cluster)
        pods = api.list(
            "v1", "Pod", namespace=CHART, label_selector=f"app.kubernetes.io/instance={RELEASE},role=master"
        )
        images = {dig(pod, "spec", "containers")[0]["image"].rpartition(":")[2] for pod in pods}
        records = api.list("v1", "Secret", namespace=CHART, label_selector=f"owner=helm,name={RELEASE},status=deployed")
        found[cluster] = (" ".join(sorted(images)), "".join(one["metadata"]["labels"]["version"] for one in records))
    return found


def wait_for_rollout(region: LocalRegion, wanted: dict[str, tuple[str, str]]) -> None:
    """Wait until the Deployments in the clusters are rolled out."""
    wait_until(lambda: runs(region) == wanted, timeout_seconds=60, what=f"{wanted} run")


def at(version: str, revision: str, clusters: set[str]) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(clusters, (f"v{version}", revision))


def machines(region: LocalRegion) -> set[str]:
    """Return the identities of the machines of all clusters."""
    return {body["metadata"]["uid"] for body in region.api().list(CLUSTER_API, "Machine")}


def test_a_new_catalogue_release_is_not_installed(region: LocalRegion) -> None:
    region.up()

    assert installed(region) == dict.fromkeys(CLUSTERS, OLD_DIGEST)
    wait_for_rollout(region, at(OLD, "1", CLUSTERS))
    assert f"{PROMOTED} --to {NEW} --plan" in region.jacquard("show", ENVIRONMENT, "upgrades").text


def test_the_first_wave_only_changes_clusters_of_the_canary_tenant(region: LocalRegion) -> None:
    before = machines(region)
    assert f"2 clusters promoted to {NEW}, 1 remaining" in promote(region, "--wave", "1")
    assert "apply it first" in promote(region, "--wave", "2", "--evidence", evidence(region))

    region.up()

    assert installed(region) == {cluster: NEW_DIGEST if cluster in CANARIES else OLD_DIGEST for cluster in CLUSTERS}
    wait_for_rollout(region, at(NEW, "2", CANARIES) | at(OLD, "1", CLUSTERS - CANARIES))
    assert machines(region) == before


def test_the_second_wave_follows_with_evidence_of_the_first(region: LocalRegion) -> None:
    before = machines(region)
    assert "there is no evidence that wave 1 is settled" in promote(region, "--wave", "2")
    assert f"1 cluster promoted to {NEW}" in promote(region, "--wave", "2", "--evidence", evidence(region))

    region.up()

    assert installed(region) == dict.fromkeys(CLUSTERS, NEW_DIGEST)
    wait_for_rollout(region, at(NEW, "2", CLUSTERS))
    assert machines(region) == before


def test_the_chart_is_rolled_back(region: LocalRegion) -> None:
    before = machines(region)
    assert f"3 clusters promoted to {OLD}" in promote(region, "--rollback")

    region.up()

    assert installed(region) == dict.fromkeys(CLUSTERS, OLD_DIGEST)
    wait_for_rollout(region, at(OLD, "3", CLUSTERS))
    assert machines(region) == before
