"""Main sequence of a region in slices: parallel runs of the real engine, and a failing slice that stops no others.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, leftovers
from tests.support.local_regions.rejected_labels import LABEL, RejectedLabels

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER_API = "cluster.x-k8s.io/v1beta2"
SLICES = ("foundation", "inventory-a", "tenant-acme", "tenant-globex", "cluster-acme-train", "cluster-globex-lab")
REFUSED = "nothing of globex is labelled today"


@pytest.fixture(scope="module")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """Laptop in slices, two in parallel on every machine."""
    local = LocalRegion(tmp_path_factory.mktemp("sliced"))
    local.variables["JACQUARD_PARALLELISM"] = "2"
    local.edit(f"{ENVIRONMENT}/region.yaml", "stacks: whole", "stacks: sliced")
    with deleted_at_exit(local):
        yield local


def labels(sliced: LocalRegion, cluster: str) -> set[str | None]:
    """Return the labels of the machines of each group of a cluster."""
    found = sliced.api().list(CLUSTER_API, "MachineDeployment", namespace=cluster)
    return {item["spec"]["template"]["metadata"]["labels"].get(LABEL) for item in found}


def test_up_creates_all_slices_and_the_next_one_has_no_changes(sliced: LocalRegion) -> None:
    first = sliced.jacquard("up", ENVIRONMENT, "--format", "json")
    second = sliced.jacquard("up", ENVIRONMENT, "--format", "json")

    assert first.code == 0, first.text
    answer: dict[str, Any] = json.loads(first.stdout)
    assert list(answer["changes"]) == [f"{ENVIRONMENT}.{name}" for name in ("bootstrap", *SLICES)]
    assert all(set(changes) == {"create"} for changes in answer["changes"].values())
    assert answer["status"]["settled"] is True
    assert second.code == 0, second.text
    assert [changes for changes in json.loads(second.stdout)["changes"].values() if changes] == []


def test_a_slice_rejected_by_the_api_server_only_blocks_its_cluster(sliced: LocalRegion) -> None:
    RejectedLabels(sliced.api(), REFUSED, namespace="globex-lab").start()
    sliced.edit(f"{ENVIRONMENT}/tenants/acme.yaml", "workload: inference}", "workload: inference, stage: two}")
    sliced.edit(
        f"{ENVIRONMENT}/tenants/globex.yaml", "nodes: 4}\n    storage", "nodes: 4, labels: {stage: two}}\n    storage"
    )

    outcome = sliced.jacquard("up", ENVIRONMENT, "--format", "json")

    assert outcome.code == 1, outcome.text
    assert REFUSED in outcome.stderr
    stacks = json.loads(outcome.stdout)["stacks"]
    assert {stack.partition(".")[2]: one["result"] for stack, one in stacks.items()} == {
        **dict.fromkeys(SLICES, "applied"),
        "tenant-globex": "failed",
        "cluster-globex-lab": "not started",
    }
    assert stacks[f"{ENVIRONMENT}.cluster-globex-lab"]["because_of"] == [f"{ENVIRONMENT}.tenant-globex"]
    assert outcome.stderr.endswith(
        f"error: {ENVIRONMENT}: 4 of 6 stacks applied, 1 failed, 1 not started; "
        f"'jacquard up {ENVIRONMENT}' continues from there\n"
    )
    assert (labels(sliced, "acme-train"), labels(sliced, "globex-lab")) == ({None, "two"}, {None})


def test_the_same_command_continues_after_the_cause_is_removed(sliced: LocalRegion) -> None:
    RejectedLabels(sliced.api(), REFUSED).end()

    outcome = sliced.jacquard("up", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert labels(sliced, "globex-lab") == {"two"}


def test_lost_objects_are_created_again_by_an_up_that_refreshes(sliced: LocalRegion) -> None:
    lost = {
        "management": ObjectRef("networking.k8s.io/v1", "NetworkPolicy", "default", "cert-manager"),
        "globex-lab": ObjectRef("scheduling.k8s.io/v1", "PriorityClass", "high", None),
    }
    for cluster, ref in lost.items():
        sliced.api(cluster).delete(ref)

    trusting = sliced.jacquard("up", ENVIRONMENT, "--format", "json")
    preview = sliced.jacquard("preview", ENVIRONMENT, "--refresh", "--format", "json")
    refreshing = sliced.jacquard("up", ENVIRONMENT, "--refresh", "--format", "json")
    again = sliced.jacquard("up", ENVIRONMENT, "--refresh", "--format", "json")

    assert (trusting.code, preview.code) == (0, 0), preview.text
    assert [changes for changes in json.loads(trusting.stdout)["changes"].values() if changes] == []
    restored = {  # The NetworkPolicy is a member of an object set.
        f"{ENVIRONMENT}.foundation": {"update": 1},
        f"{ENVIRONMENT}.cluster-globex-lab": {"create": 1},
    }
    stacks = json.loads(preview.stdout)["stacks"]
    assert {stack["stack"]: stack["changes"] for stack in stacks if stack["changes"]} == restored
    assert refreshing.code == 0, refreshing.text
    assert {stack: made for stack, made in json.loads(refreshing.stdout)["changes"].items() if made} == restored
    for note in ("NetworkPolicy management/cert-manager/default", "PriorityClass globex-lab/high"):
        assert f"1 recorded object is missing in the cluster: {note}; " in refreshing.stderr
    assert [cluster for cluster, ref in lost.items() if sliced.api(cluster).get(ref) is None] == []
    assert again.code == 0, again.text
    assert [changes for changes in json.loads(again.stdout)["changes"].values() if changes] == []
    assert "missing" not in again.stderr


def test_down_leaves_nothing(sliced: LocalRegion) -> None:
    outcome = sliced.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert "removed anyway" not in outcome.stderr, outcome.text
    assert leftovers(sliced) == []
