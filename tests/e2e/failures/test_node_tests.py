"""New nodes accept no pods before their burn-in has passed; idle nodes are verified again.

API servers, controller managers, schedulers and Cluster API are real. Kubelets are simulated: a test fails on the nodes
for which a file lists its exit code. The node readiness controller is simulated as well.
"""

from __future__ import annotations

import datetime as dt
import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.programs.node_test_decision import FAULT
from components.programs.objects import time_of
from components.render.health.quarantine import BURN_IN, EVICTION, QUARANTINE
from components.render.labels import NODE_POOL
from components.specs.pools.nodes import BURN_IN_PASSED
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.observe.nodes.results import last_result
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.broken_nodes import MACHINE
from tests.support.local_regions.faulty_nodes import checks, hasten, is_well, let_metal3_wait
from tests.support.local_regions.host_power import HOST
from tests.support.local_regions.kernel_logs import FELL_OFF_THE_BUS, inject_kernel_log
from tests.support.local_regions.local_region import ENVIRONMENT, JACQUARD, LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER, edit, edit_pools, region_of

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POOL = "train"
SPEED = 20
_GPUS = "nvidia.com/gpu"
_SECONDS = 180.0
_PATIENT_SECONDS = 3600
"""Time that Metal3 waits for a node to be healthy again, before division by the speed of the region."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A pool of two nodes that have passed their burn-in, with a node for add-ons and spare hosts."""
    folder = tmp_path_factory.mktemp("node-tests")
    with deleted_at_exit(region_of(folder, {"services": {"nodes": 1}, POOL: {"nodes": 2}}, racks=1)) as local:
        edit(local, _with_tests)
        for path in (local.environments / ENVIRONMENT).glob("*.lock.yaml"):
            path.unlink()
        allocated = local.jacquard("allocate", ENVIRONMENT)
        assert allocated.code == 0, allocated.text
        local.variables["JACQUARD_SPEED"] = str(SPEED)
        local.up()
        yield local


def _with_tests(tenant: dict[str, Any]) -> dict[str, Any]:
    [cluster] = tenant["clusters"]
    cluster["add_ons"] = [*cluster["add_ons"], "node-features", "gpus", "node-problems", "node-readiness"]
    cluster["pools"][1]["health"] = {"burn_in": "gated"}
    return tenant


def nodes(region: LocalRegion) -> dict[str, dict[str, Any]]:
    """Return the nodes of the pool by name."""
    every = region.api(CLUSTER).list("v1", "Node", label_selector=f"{NODE_POOL}={POOL}")
    return {str(body["metadata"]["name"]): body for body in every}


def machines(region: LocalRegion) -> list[dict[str, Any]]:
    return list(region.api().list(*MACHINE, namespace=CLUSTER, label_selector=f"jacquard.dev/pool={POOL}"))


def condition(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return next((one for one in dig(body, "status", "conditions") or () if one["type"] == kind), {})


def status(region: LocalRegion, node: str, kind: str) -> str | None:
    return condition(nodes(region).get(node, {}), kind).get("status")


def taints(region: LocalRegion, node: str) -> set[str]:
    return {taint["key"] for taint in dig(nodes(region).get(node, {}), "spec", "taints") or ()}


def fail(region: LocalRegion, codes: Mapping[str, Mapping[str, int]]) -> None:
    """Set the failing tests: exit codes by node (``*`` for all) and test."""
    file = region.home / "regions" / region.environment / "exit-codes" / f"{CLUSTER}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(codes))


def job_of_tenant(region: LocalRegion, name: str) -> None:
    container = {"name": "work", "image": PUBLIC[0], "resources": {"limits": {_GPUS: 8}}}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], "nodeSelector": {NODE_POOL: POOL}},
    }
    region.api(CLUSTER).create(body, field_manager="test")


def place_of(region: LocalRegion, name: str) -> str | None:
    pod = region.api(CLUSTER).get(ObjectRef("v1", "Pod", name, "default")) or {}
    return dig(pod, "spec", "nodeName")


def faults(region: LocalRegion) -> list[dict[str, Any]]:
    shown = region.jacquard("show", ENVIRONMENT, "health", "--live", "--format", "json")
    assert shown.code == 0, shown.text
    return list(json.loads(shown.stdout)["faults"])


def status_of(region: LocalRegion) -> dict[str, Any]:
    shown = region.jacquard("status", ENVIRONMENT, "--format", "json")
    assert shown.code == 0, shown.text
    return dict(json.loads(shown.stdout))


def hold_tests(region: LocalRegion, *, on: bool) -> None:
    """Prevent the program from starting tests, so that a burn-in does not end."""
    patch = {"spec": {"suspend": on}}
    region.api().patch(ObjectRef("batch/v1", "CronJob", "node-tests", CLUSTER), patch, field_manager="test")


def verify_again(region: LocalRegion, node: str) -> None:
    """Set the age of the last results of a node to two hours, so that its verification starts.

    Jobs are deleted, because their results would be written again.
    """
    for job in region.api(CLUSTER).list("batch/v1", "Job", namespace="node-readiness"):
        region.api(CLUSTER).delete(ObjectRef("batch/v1", "Job", job["metadata"]["name"], "node-readiness"))
    then = f"{dt.datetime.now(dt.UTC) - dt.timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}"
    known = dig(nodes(region)[node], "status", "conditions")
    old = [{**one, "lastHeartbeatTime": then} if one["type"] in {BURN_IN_PASSED, FAULT} else one for one in known]
    patch = {"status": {"conditions": old}}
    region.api(CLUSTER).patch(ObjectRef("v1", "Node", node), patch, subresource="status", field_manager="test")


def test_nodes_of_a_new_cluster_have_passed_before_they_are_available(region: LocalRegion) -> None:
    assert len(nodes(region)) == 2
    for name, body in nodes(region).items():
        assert condition(body, BURN_IN_PASSED)["status"] == "True"
        assert BURN_IN["key"] not in taints(region, name)
    for machine in machines(region):
        assert condition(machine, BURN_IN_PASSED)["status"] == "True"
        assert condition(machine, "Available")["status"] == "True"
    jobs = list(region.api(CLUSTER).list("batch/v1", "Job", namespace="node-readiness"))
    assert [job["metadata"]["labels"]["jacquard.dev/node-test"] for job in jobs].count("burn-in") == 2


def test_a_new_host_that_fails_its_burn_in_never_runs_a_pod_until_it_is_repaired(region: LocalRegion) -> None:
    before = set(nodes(region))
    for name in ("first", "second", "waiting"):
        job_of_tenant(region, name)
    wait_until(
        lambda: sum(bool(place_of(region, name)) for name in ("first", "second", "waiting")) == 2,
        timeout_seconds=_SECONDS,
        what="both nodes are taken",
    )
    [waiting] = [name for name in ("first", "second", "waiting") if not place_of(region, name)]

    fail(region, {"*": {"gpu-stress": 226}})
    hold_tests(region, on=True)
    edit_pools(region, {POOL: {"nodes": 3}})
    assert region.jacquard("allocate", ENVIRONMENT).code == 0
    up = region.start(JACQUARD, "up", ENVIRONMENT)
    wait_until(lambda: status_of(region)["burn_in"] != [], timeout_seconds=_SECONDS, what="the burn-in", during=up)
    during = status_of(region)
    assert (during["settled"], during["why"]) == (True, [])
    assert "1 of 3 nodes in burn-in until" in during["burn_in"][0]
    hold_tests(region, on=False)
    node = _failed(region, before, up)
    assert (status_of(region)["settled"], status_of(region)["burn_in"]) == (False, [])

    assert BURN_IN["key"] in taints(region, node)
    assert place_of(region, waiting) is None
    assert up.poll() is None, "the pool is not complete"
    [fault] = faults(region)
    assert (fault["node"], fault["condition"], fault["action"]) == (node, BURN_IN_PASSED, "quarantine")
    assert "gpu-stress ended with exit code 226" in fault["message"]
    [machine] = [one for one in machines(region) if dig(one, "status", "nodeRef", "name") == node]
    assert condition(machine, BURN_IN_PASSED)["status"] == "False"
    assert condition(machine, "Available")["status"] != "True"

    fail(region, {})
    patch = {"metadata": {"annotations": {"reboot.metal3.io": ""}}}
    region.api().patch(ObjectRef(*HOST, fault["host"], CLUSTER), patch, field_manager="test")
    wait_until(
        lambda: status(region, node, BURN_IN_PASSED) == "True" and BURN_IN["key"] not in taints(region, node),
        timeout_seconds=_SECONDS,
        what="the repaired node passes",
        during=up,
    )
    wait_until(lambda: place_of(region, waiting) == node, timeout_seconds=_SECONDS, what="the job starts there")
    assert region.end_of(up).code == 0
    assert faults(region) == []


def _failed(region: LocalRegion, before: set[str], up: subprocess.Popen[str]) -> str:
    """Return the node that is not in ``before``, once its burn-in has failed."""
    found: list[str] = []

    def failed() -> bool:
        found[:] = [name for name in nodes(region) if name not in before]
        return bool(found) and status(region, found[0], BURN_IN_PASSED) == "False"

    wait_until(failed, timeout_seconds=2 * _SECONDS, what="the new node fails its burn-in", during=up)
    return found[0]


def test_an_idle_node_that_fails_its_verification_is_quarantined_until_it_passes(region: LocalRegion) -> None:
    for name in ("first", "second", "waiting"):
        region.api(CLUSTER).delete(ObjectRef("v1", "Pod", name, "default"))
    node = min(nodes(region))
    fail(region, {node: {"nccl": 3}})
    verify_again(region, node)
    wait_until(
        lambda: QUARANTINE["key"] in taints(region, node), timeout_seconds=_SECONDS, what="the node is quarantined"
    )
    assert [(one["node"], one["condition"]) for one in faults(region)] == [(node, FAULT)]

    fail(region, {})
    verify_again(region, node)
    wait_until(
        lambda: QUARANTINE["key"] not in taints(region, node),
        timeout_seconds=_SECONDS,
        what="the node takes pods again",
    )
    assert status(region, node, FAULT) == "False"
    assert faults(region) == []


def test_a_repaired_node_is_verified_after_its_reboot(region: LocalRegion) -> None:
    for check in checks(region):
        hasten(region, check)
    let_metal3_wait(region, _PATIENT_SECONDS)
    node = min(nodes(region))
    boot = dig(nodes(region)[node], "status", "nodeInfo", "bootID")

    inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
    wait_until(
        lambda: dig(nodes(region)[node], "status", "nodeInfo", "bootID") != boot and is_well(region, node),
        timeout_seconds=_SECONDS,
        what="the node is rebooted",
    )
    ready = time_of(condition(nodes(region)[node], "Ready")["lastTransitionTime"])

    def is_verified() -> bool:  # By its burn-in, if the boot has removed the last result
        passed, when = last_result(nodes(region)[node], BURN_IN_PASSED)
        return passed is True and when is not None and when > ready

    wait_until(is_verified, timeout_seconds=_SECONDS, what="the node is verified")
    wait_until(
        lambda: not taints(region, node) & {EVICTION["key"], QUARANTINE["key"]},
        timeout_seconds=_SECONDS,
        what="the node takes pods again",
    )
    assert faults(region) == []
