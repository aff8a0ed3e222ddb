"""DPUs are promoted in waves without manual steps: a program drains, flashes and uncordons their hosts.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.programs.dpu_decision import AWAY, READY
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, wait_while_changing

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER_API, METAL3, DPF = "cluster.x-k8s.io/v1beta2", "metal3.io/v1alpha1", "provisioning.dpu.nvidia.com/v1alpha1"
STILL_SECONDS = 180
"""Longest time without progress of any host: one returns, and the next is drained, wiped, flashed and booted."""
MOST, MOST_PER_VPC = 6, 4
CLUSTERS = ("acme-train", "globex-lab")
"""Clusters of the region, each of which is the only one in its VPC."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop with automatic release of the maintenance hold of its DPUs."""
    local = LocalRegion(tmp_path_factory.mktemp("dpus"))
    release = f"  release: {{max_away: {MOST}, max_away_per_vpc: {MOST_PER_VPC}}}\n  management_api:"
    local.edit(f"{ENVIRONMENT}/region.yaml", "  management_api:", release)
    with deleted_at_exit(local):
        yield local


def hosts(region: LocalRegion) -> list[dict[str, Any]]:
    return list(region.api().list(METAL3, "BareMetalHost"))


def noted(body: dict[str, Any], key: str) -> bool:
    return key in (body["metadata"].get("annotations") or {})


def flashed(region: LocalRegion) -> dict[str, set[str]]:
    """Return the flavors with which the DPUs of each DPUDeployment were flashed."""
    return {one["deployment"]: set(one["flavors"]) for one in region.status()["dpu_deployments"]}


def state(region: LocalRegion) -> dict[str, Any]:
    """Return the state of the DPUs of each DPUDeployment; assert that few hosts are unavailable."""
    away = Counter(body["metadata"]["namespace"] for body in hosts(region) if noted(body, AWAY))
    assert away.total() <= MOST
    assert all(away[cluster] <= MOST_PER_VPC for cluster in CLUSTERS)
    return {one["deployment"]: one for one in region.status()["dpu_deployments"]}


def evidence(region: LocalRegion) -> str:
    """Return a file with current evidence of the region."""
    file = Path(region.environments).parent / "evidence.json"
    file.write_text(region.jacquard("status", ENVIRONMENT, "--format", "json").stdout, encoding="utf-8")
    return str(file)


def send_patch(api: ApiServer, ref: ObjectRef, patch: dict[str, Any]) -> None:
    """Send an empty patch, which admission evaluates like a change."""
    query = {"dryRun": "All", "fieldManager": "test"}
    api.request("PATCH", api.path(ref, None), query=query, body=patch, content_type="application/merge-patch+json")


def test_each_claimed_host_has_a_dpu_that_was_released_before(region: LocalRegion) -> None:
    region.up()

    used = [body for body in hosts(region) if body["spec"].get("consumerRef")]
    assert used
    assert [body["metadata"]["name"] for body in used if not noted(body, READY)] == []
    found = state(region)
    assert {name for name, one in found.items() if one["settled"]} == {"acme", "globex", "unassigned"}
    assert region.api().list(DPF, "DPUNodeMaintenance") == []


def test_no_cluster_claims_a_host_whose_dpu_is_not_ready(region: LocalRegion) -> None:
    api = region.api()
    spare = next(body for body in hosts(region) if not body["spec"].get("consumerRef") and noted(body, READY))
    ref = ObjectRef.of({"apiVersion": METAL3, "kind": "BareMetalHost", **spare})
    claim = {"spec": {"consumerRef": {"kind": "Metal3Machine", "name": "nobody"}}}

    closed = {"metadata": {"annotations": {READY: None}}, **claim}
    with pytest.raises(ApiError, match="the DPU of this host is not ready in its VPC"):
        send_patch(api, ref, closed)
    send_patch(api, ref, claim)


def test_the_waves_of_a_promotion_are_flashed_without_manual_steps(region: LocalRegion) -> None:
    before = flashed(region)
    region.edit("catalog/instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32")

    for wave, deployment in (("1", "unassigned"), ("2", "globex"), ("3", "acme")):
        proof = [] if wave == "1" else ["--evidence", evidence(region)]
        outcome = region.jacquard("promote", ENVIRONMENT, "dpus", "--wave", wave, *proof)
        assert outcome.code == 0, outcome.text
        region.up()
        wait_while_changing(
            partial(state, region),
            lambda found, deployment=deployment: found[deployment]["settled"],
            still_seconds=STILL_SECONDS,
            what=f"DPUs of {deployment} are flashed",
        )
        assert flashed(region)[deployment].isdisjoint(before[deployment])

    region.up()
    assert [body["metadata"]["name"] for body in hosts(region) if noted(body, AWAY)] == []
    assert not [body for body in hosts(region) if body["spec"].get("consumerRef") and not noted(body, READY)]
