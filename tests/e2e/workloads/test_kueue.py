"""Kueue's real controller admits, refuses and preempts jobs in the rendered queues of a reference cluster.

All 1,440 nodes with GPUs exist as objects, so quotas and racks are those of the data. No pod runs: nothing here proves
that a preempted container ends, or that a job resumes from a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components.lookups.pools import clusters
from components.render import labels as keys
from components.render.workloads.kueue import QueueSettings, alerts
from components.specs.pools.node_pool import TaintEffect, TaintSpec
from components.specs.struct import replace
from components.specs.workloads.queues import QueuedKinds
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ObjectRef
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.local_regions.local_region import wait_until
from tests.support.workloads.kueue_api_server import WORKLOAD, KueueCluster, condition

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

GPUS, RACK = 4, 18
KUEUE_SETTINGS = QueueSettings(namespaces=(), queued=QueuedKinds.PODS, fair_sharing=False)
IN_USE = "kueue.x-k8s.io/resource-in-use"


@pytest.fixture(scope="module")
def kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KueueCluster]:
    environment = reference("us-east-04a")
    [placed] = [item for item in clusters(environment) if item.cluster.queues]
    try:
        running = KueueCluster(tmp_path_factory.mktemp("kueue"), environment, placed)
    except ToolchainError as error:
        pytest.skip(f"NO KUEUE: {error}; make test-nightly builds it")
    try:
        yield running
    finally:
        running.stop()


def is_ready(body: dict[str, Any]) -> bool:
    """Return whether Kueue reports a queue as active, or uses a flavor or a topology; classes have no status."""
    if body["kind"] in ("ResourceFlavor", "Topology"):
        return IN_USE in body["metadata"].get("finalizers", ())
    return body["kind"] == "WorkloadPriorityClass" or condition(body, "Active").get("status") == "True"


def await_inactive(kueue: KueueCluster, *names: str) -> None:
    """Wait until Kueue's metrics report exactly these queues as inactive, with the series of the alert."""
    [rule] = [rule for rule in alerts(KUEUE_SETTINGS) if rule["alert"] == "QueueInactive"]

    def reported() -> set[str]:
        return {
            labels["cluster_queue"]
            for name, labels, value in kueue.metrics()
            if f'{name}{{status="{labels.get("status")}"}} == {value:.0f}' == rule["expr"]
        }

    wait_until(lambda: reported() == {*names}, timeout_seconds=60, what=f"{names} are inactive: {reported()}")


def test_each_object_that_we_render_is_active_and_none_is_changed(kueue: KueueCluster) -> None:
    def unready() -> list[tuple[str, str]]:
        return [(item.kind, item.name) for item in kueue.objects if not is_ready(kueue.live(item))]

    wait_until(lambda: not unready(), timeout_seconds=120, what=f"all objects are active: {unready()}")
    await_inactive(kueue)
    for item in kueue.objects:
        before = kueue.live(item)["metadata"].get("generation")
        kueue.api.apply(dict(item.body), field_manager="jacquard")
        assert kueue.live(item)["metadata"].get("generation") == before, item


def test_a_gang_of_16_gpus_runs_in_one_nvlink_domain(kueue: KueueCluster) -> None:
    kueue.submit("gang", "research", 4, "training", rack=True)
    kueue.await_admission("gang", "research")

    [podset] = kueue.workload("gang", "research")["status"]["admission"]["podSetAssignments"]
    assert podset["resourceUsage"]["nvidia.com/gpu"] == str(4 * GPUS)
    hosts = kueue.assigned("gang", "research")
    assert len(hosts) == 4
    assert len({kueue.hosts[host].rack for host in hosts}) == 1

    def bound() -> bool:
        return {pod["spec"].get("nodeName") for pod in kueue.pods("research", "gang")} == hosts

    wait_until(bound, timeout_seconds=120, what="the scheduler binds the pods to the nodes that Kueue assigned")
    for pod in kueue.pods("research", "gang"):
        assert pod["spec"]["nodeSelector"][keys.NODE_POOL] == "nvl72"


def test_a_gang_larger_than_a_rack_waits_with_a_reason(kueue: KueueCluster) -> None:
    kueue.submit("large", "foundation", RACK + 1, "training", rack=True, pods=False)

    kueue.await_refusal("large", "foundation", f"allows to fit only {RACK} out of {RACK + 1} pod(s)")


def test_a_job_above_the_quota_and_the_limit_of_borrowing_is_never_admitted(kueue: KueueCluster) -> None:
    [team] = [team for team in kueue.queues.spec.teams if team.name == "research"]
    nodes = team.most("nvl72") + 1
    kueue.submit("above", "research", nodes, "training", pods=False)

    kueue.await_refusal("above", "research", f"> maximum capacity ({(nodes - 1) * GPUS})")


def test_serving_preempts_research_and_owners_get_their_quota_back(kueue: KueueCluster) -> None:
    """Fill the cluster: research has its own 144 nodes and borrows all that foundation does not use."""
    kueue.submit("preemptible", "research", RACK, "research", rack=True)
    kueue.await_admission("preemptible", "research")
    for name, namespace, nodes in (
        ("pretraining", "foundation", 1008),
        ("base", "inference", 216),
        ("sweep", "research", 140),
        ("borrower", "research", 54),
    ):
        kueue.submit(name, namespace, nodes, "training", pods=False)
        kueue.await_admission(name, namespace)

    kueue.submit("next", "research", 1, "research")
    kueue.await_refusal("next", "research", "insufficient unused quota for nvidia.com/gpu in flavor nvl72-")

    kueue.deploy("service", "inference", 2, "serving")

    def serving() -> bool:
        kueue.end_deleted_pods("research")
        pods = kueue.pods("inference", "service")
        return len(pods) == 2 and all(pod["spec"].get("nodeName") for pod in pods)

    wait_until(serving, timeout_seconds=180, what="both pods of the service have a node")
    preempted = condition(kueue.workload("preemptible", "research"), "Preempted")
    assert (preempted["status"], preempted["reason"]) == ("True", "InCohortReclaimWhileBorrowing")
    assert kueue.workload("preemptible", "research")["spec"]["priority"] == -1000
    assert not kueue.pods("research", "preemptible")
    for name, namespace in (
        ("gang", "research"),
        ("sweep", "research"),
        ("borrower", "research"),
        ("base", "inference"),
    ):
        assert kueue.is_true("Admitted", name, namespace), name

    kueue.await_admission("next", "research")
    kueue.submit("owner", "foundation", 54, "research", pods=False)
    kueue.await_admission("owner", "foundation")
    reclaimed = [
        body["spec"]["priority"]
        for body in kueue.api.list(*WORKLOAD, namespace="research")
        if condition(body, "Preempted").get("reason") == "InCohortReclamation"
    ]
    assert 0 in reclaimed, "a class above that of the owner's job is preempted as well"
    assert kueue.is_true("Admitted", "pretraining", "foundation")


def test_jobs_on_a_replaced_flavor_are_not_counted_unless_the_queue_is_stopped(kueue: KueueCluster) -> None:
    queue = ObjectRef(kueue.queues.api, "ClusterQueue", "foundation")
    kueue.api.patch(queue, {"spec": {"stopPolicy": "Hold"}}, field_manager="operator")
    extra = TaintSpec(key="extra", effect=TaintEffect.NO_SCHEDULE)
    pools = tuple(replace(pool, taints=(*pool.taints, extra)) for pool in kueue.queues.pools)
    kueue.change(replace(kueue.queues, pools=pools))

    kueue.submit("again", "foundation", 1080, "training", pods=False)
    kueue.await_refusal("again", "foundation", "is inactive")
    await_inactive(kueue, "foundation")
    assert kueue.is_true("Admitted", "pretraining", "foundation")

    kueue.api.patch(queue, {"spec": {"stopPolicy": "None"}}, field_manager="operator")
    kueue.await_admission("again", "foundation")
    assert kueue.assigned("again", "foundation") & kueue.assigned("pretraining", "foundation")


def test_the_queue_of_a_removed_team_is_deleted_when_its_jobs_have_finished(kueue: KueueCluster) -> None:
    others = tuple(team for team in kueue.queues.spec.teams if team.name != "foundation")
    kueue.change(replace(kueue.queues, spec=changed(kueue.queues.spec, teams=others)))
    running = ("pretraining", "owner", "again")

    assert all(kueue.is_true("Admitted", name, "foundation") for name in running)
    queue = ObjectRef(kueue.queues.api, "ClusterQueue", "foundation")
    assert (kueue.api.get(queue) or {})["metadata"]["deletionTimestamp"]
    await_inactive(kueue)
    for name in running:
        kueue.finish(name, "foundation")
    wait_until(lambda: kueue.api.get(queue) is None, timeout_seconds=120, what="the queue is deleted")
