"""A chart is promoted over three clusters of tenants in two waves, and comes back: no node is made anew by it.

The tests run in the order of the file on one region: each leaves it as the next one expects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chart_rollouts import CHART, NEW, PROMOTED, offered, ruled, with_third_cluster
from local_region import ENVIRONMENT, LocalRegion
from workbench import Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER_API, HELM = "cluster.x-k8s.io/v1beta2", "helm.toolkit.fluxcd.io/v2"
CLUSTERS = {"acme-train", "globex-eval", "globex-lab"}
CANARIES = {"globex-eval", "globex-lab"}
OLD_DIGEST = "sha256:5e00f4a3cccbb0cb550daf37c3da88a8c39720ef9e057e8cf179fb20a05bdd9f"
NEW_DIGEST = "sha256:" + "c" * 64


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with a third cluster and a newer release of its chart; gone at the end whatever happened."""
    local = LocalRegion(tmp_path_factory.mktemp("waves"))
    bench = Workbench(local.environments)
    with_third_cluster(bench)
    offered(bench)
    ruled(bench, "canary_tenants: [globex]")
    try:
        yield local
    finally:
        local.kill_what_still_runs()
        local.jacquard("down", ENVIRONMENT)


def up(region: LocalRegion) -> None:
    """Apply the data, and wait until the region is as they say."""
    result = region.jacquard("up", ENVIRONMENT)
    assert result.code == 0, result.text


def promote(region: LocalRegion, *options: str) -> str:
    """Return what a promotion of the chart says, whether it is done or refused."""
    return region.jacquard("promote", ENVIRONMENT, PROMOTED, *options).text


def evidence(region: LocalRegion) -> str:
    """Return a file with what the region is like now."""
    file = Path(region.environments).parent / "evidence.json"
    file.write_text(region.jacquard("status", ENVIRONMENT, "--format", "json").stdout, encoding="utf-8")
    return str(file)


def installed(region: LocalRegion) -> dict[str, str]:
    """Return the digest of the chart that each cluster has."""
    found = region.api().list(HELM, "HelmRelease")
    return {
        body["metadata"]["namespace"]: body["status"]["history"][0]["ociDigest"]
        for body in found
        if body["metadata"]["name"] == CHART
    }


def machines(region: LocalRegion) -> set[str]:
    """Return what tells the machines of all clusters from any that came later."""
    return {body["metadata"]["uid"] for body in region.api().list(CLUSTER_API, "Machine")}


def test_a_release_that_is_offered_is_installed_nowhere(region: LocalRegion) -> None:
    up(region)

    assert installed(region) == dict.fromkeys(CLUSTERS, OLD_DIGEST)
    assert f"{PROMOTED} --to {NEW} --plan" in region.jacquard("show", ENVIRONMENT, "upgrades").text


def test_the_first_wave_reaches_the_clusters_of_the_canary_tenant_alone(region: LocalRegion) -> None:
    before = machines(region)
    assert "2 clusters moved to 1.20.1, 1 to go" in promote(region, "--wave", "1")
    assert "apply it first" in promote(region, "--wave", "2", "--evidence", evidence(region))

    up(region)

    assert installed(region) == {cluster: NEW_DIGEST if cluster in CANARIES else OLD_DIGEST for cluster in CLUSTERS}
    assert machines(region) == before


def test_the_second_wave_follows_with_evidence_of_the_first(region: LocalRegion) -> None:
    before = machines(region)
    assert "nothing shows that wave 1 is settled" in promote(region, "--wave", "2")
    assert "1 cluster moved to 1.20.1" in promote(region, "--wave", "2", "--evidence", evidence(region))

    up(region)

    assert installed(region) == dict.fromkeys(CLUSTERS, NEW_DIGEST)
    assert machines(region) == before


def test_the_chart_goes_back_to_what_it_was(region: LocalRegion) -> None:
    before = machines(region)
    assert "3 clusters moved to 1.20.0" in promote(region, "--rollback")

    up(region)

    assert installed(region) == dict.fromkeys(CLUSTERS, OLD_DIGEST)
    assert machines(region) == before
