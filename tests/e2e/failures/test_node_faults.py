"""A GPU fault from a line in the kernel log to the reboot of its host, and faults that persist after reboots.

The real node-problem-detector reads the line, and the real Cluster API remediates the node. Metal3, kubelets and the
power of hosts are simulated. Timeouts of health checks and Metal3 are seconds instead of minutes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.programs.failed_repairs import REPAIRS, RETURNED, SPARE, WAITS_FOR
from components.programs.node_test_decision import IDLE_FAULT
from components.programs.repair_times import APPROVAL, APPROVED
from components.programs.spare_hosts import UNHEALTHY as UNHEALTHY_KEY
from components.render.health.quarantine import EVICTION, QUARANTINE
from jacquard.lab.rehearsal.operators.hosts.remediation import UNHEALTHY
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.changes.unavailable_nodes import uids
from tests.support.local_regions.broken_nodes import counted_repairs
from tests.support.local_regions.faulty_nodes import (
    LOST,
    SECONDS,
    checks,
    condition,
    hasten,
    host,
    host_of,
    is_well,
    job,
    let_metal3_wait,
    machines,
    node_names,
    node_of,
    notes,
    notes_of,
    reason,
    reasons,
    repairs,
    run_job,
    runs,
    taints,
    with_approvals,
    with_problem_detectors,
)
from tests.support.local_regions.host_power import HOST, power_states, watched_power
from tests.support.local_regions.kernel_logs import FELL_OFF_THE_BUS, GSP_TIMEOUT, inject_kernel_log, kernel_log
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER, NODES, edit, region_of
from tests.support.local_regions.watches import watched_uids

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POOL = "train"
SPEED = 20
_SETTLED_SECONDS = 15.0
_PATIENT_SECONDS, _HASTY_SECONDS = 3600, 800
"""Time that Metal3 waits for a node to be healthy again, before division by the speed of the region."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A pool of four nodes in a rack with two spare hosts, and problem detectors on its nodes."""
    folder = tmp_path_factory.mktemp("node-faults")
    with deleted_at_exit(region_of(folder, {POOL: {"spares": 2}})) as local:
        edit(local, lambda tenant: with_problem_detectors(with_approvals(tenant)))
        local.variables["JACQUARD_SPEED"] = str(SPEED)
        local.up()
        for check in checks(local):
            hasten(local, check)
        wait_until(
            lambda: all(condition(local, node) == "False" for node in node_names(local)),
            timeout_seconds=SECONDS,
            what="all nodes have the condition",
        )
        yield local


def broken(region: LocalRegion, file: Path) -> tuple[str, str]:
    """Inject a GPU fault into a node, and wait for its remediation; return the names of node and host."""
    machine = machines(region)[0]
    node, name = machine["status"]["nodeRef"]["name"], host_of(region, machine)
    before = taints(region, node)
    with watched_power(region, CLUSTER, name, file), counted_repairs(region, CLUSTER, file.with_suffix(".repairs")):
        inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        wait_until(lambda: condition(region, node) == "True", timeout_seconds=SECONDS, what="the fault is seen")
        wait_until(lambda: bool(repairs(region)), timeout_seconds=SECONDS, what="Cluster API asks for a repair")
        wait_until(lambda: is_well(region, node), timeout_seconds=SECONDS, what="the node is well again")
    wait_until(lambda: taints(region, node) == before, timeout_seconds=SECONDS, what="the node takes pods again")
    return node, name


def test_a_node_that_lost_a_gpu_is_rebooted_once_and_stays_the_same_machine(
    region: LocalRegion, tmp_path: Path
) -> None:
    let_metal3_wait(region, _PATIENT_SECONDS)
    before, file = uids(region), tmp_path / "host"
    boots = {name: node_of(region, name)["status"]["nodeInfo"]["bootID"] for name in node_names(region)}

    first, second = node_names(region)[:2]
    run_job(region, first, "on-the-broken-node")
    other = run_job(region, second, "on-another-node")

    node, name = broken(region, file)

    assert node == first
    assert power_states(file) == [True, False, True]
    assert len(watched_uids(file.with_suffix(".repairs"))) == 1
    assert job(region, "on-the-broken-node") == {}, "a node is emptied before its host is rebooted"
    assert job(region, "on-another-node")["metadata"]["uid"] == other
    assert uids(region) == before
    after = {name: node_of(region, name) for name in node_names(region)}
    assert {name for name in after if after[name]["status"]["nodeInfo"]["bootID"] != boots[name]} == {node}
    assert not any("reboot" in key or "unhealthy" in key for key in notes(region, name))
    assert len(notes(region, name)[REPAIRS].split()) == 1
    assert {reason: reasons(region, node).count(reason) for reason in ("GpuFellOffTheBus", "Rebooted")} == {
        "GpuFellOffTheBus": 1,
        "Rebooted": 1,
    }


def test_a_fault_that_returns_after_a_reboot_replaces_the_node_by_a_spare(region: LocalRegion, tmp_path: Path) -> None:
    """The region's program remembers the first remediation; Cluster API and Metal3 do not."""
    let_metal3_wait(region, _PATIENT_SECONDS)
    machine, file = machines(region)[0], tmp_path / "host"
    node, name = machine["status"]["nodeRef"]["name"], host_of(region, machine)
    others = uids(region) - {machine["metadata"]["uid"]}
    [first] = notes(region, name)[REPAIRS].split()

    def replaced() -> bool:
        there = uids(region)
        return machine["metadata"]["uid"] not in there and len(there) == NODES == len(node_names(region))

    with watched_power(region, CLUSTER, name, file), counted_repairs(region, CLUSTER, file.with_suffix(".repairs")):
        inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        wait_until(replaced, timeout_seconds=3 * SECONDS, what="a spare host replaces the node")

    assert power_states(file)[:3] == [True, False, True], "Metal3 is not interrupted while the power is off"
    assert len(watched_uids(file.with_suffix(".repairs"))) == 1
    assert others < uids(region), "no other node is replaced"
    assert name not in {host_of(region, one) for one in machines(region)}
    after = notes(region, name)
    assert UNHEALTHY.items() <= after.items()
    assert [after[REPAIRS].split()[place] for place in (0, 2)] == [first, RETURNED]
    assert not any("reboot" in key for key in after), "nothing keeps the power of the host off"
    wait_until(lambda: not repairs(region), timeout_seconds=SECONDS, what="the repair goes with its machine")

    proposed = region.jacquard("reconcile-hosts", ENVIRONMENT, "--format", "json")
    assert [(one["host"], one["to"]) for one in json.loads(proposed.stdout)["hosts"]] == [(name, "triage")]
    assert "fault returned after repair by reboot (2 repairs" in proposed.stdout


def test_a_soft_fault_taints_the_node_and_its_host_is_rebooted_after_its_job_and_approval(
    region: LocalRegion, tmp_path: Path
) -> None:
    let_metal3_wait(region, _PATIENT_SECONDS)
    machine = machines(region)[2]
    node, name, file = machine["status"]["nodeRef"]["name"], host_of(region, machine), tmp_path / "host"
    uid, before = run_job(region, node, "patient"), uids(region)

    with watched_power(region, CLUSTER, name, file):
        inject_kernel_log(region, CLUSTER, node, GSP_TIMEOUT)
        wait_until(lambda: QUARANTINE["key"] in taints(region, node), timeout_seconds=SECONDS, what="the taint is set")
        time.sleep(_SETTLED_SECONDS)
    assert condition(region, node, "GpuResetRequired") == "True"
    assert runs(region, "patient")
    assert job(region, "patient")["metadata"]["uid"] == uid
    assert (power_states(file), repairs(region), uids(region)) == ([True], [], before)

    shown = region.jacquard("show", ENVIRONMENT, "health", "--live", "--format", "json")
    assert shown.code == 0, shown.text
    [fault] = json.loads(shown.stdout)["faults"]
    assert {key: fault[key] for key in ("node", "host", "pool", "condition", "action")} == {
        "node": node,
        "host": name,
        "pool": POOL,
        "condition": "GpuResetRequired",
        "action": "quarantine",
    }

    with watched_power(region, CLUSTER, name, tmp_path / "idle"):
        region.api(CLUSTER).delete(ObjectRef("v1", "Pod", "patient", "default"))
        what = "the idle node waits for an approval"
        wait_until(lambda: reason(region, node, IDLE_FAULT) == APPROVAL, timeout_seconds=SECONDS, what=what)
        time.sleep(_SETTLED_SECONDS)
        assert (power_states(tmp_path / "idle"), repairs(region)) == ([True], [])

        boot = node_of(region, node)["status"]["nodeInfo"]["bootID"]
        approval = {"metadata": {"annotations": {APPROVED: boot}}}
        region.api(CLUSTER).patch(ObjectRef("v1", "Node", node), approval, field_manager="tenant")
        what = "the node is rebooted and takes pods again"
        wait_until(lambda: QUARANTINE["key"] not in taints(region, node), timeout_seconds=2 * SECONDS, what=what)
        wait_until(lambda: is_well(region, node), timeout_seconds=SECONDS, what="the repair ends")
    assert power_states(tmp_path / "idle") == [True, False, True]
    assert condition(region, node, IDLE_FAULT) != "True"
    assert uids(region) == before


def test_a_fault_that_outlasts_both_reboots_marks_its_host_and_a_spare_replaces_the_node(
    region: LocalRegion, tmp_path: Path
) -> None:
    """Metal3 sets ``OwnerRemediated`` among deprecated conditions; the region's program sets it where it is read."""
    let_metal3_wait(region, _HASTY_SECONDS)
    machine = machines(region)[-1]
    node, name = machine["status"]["nodeRef"]["name"], host_of(region, machine)
    others = uids(region) - {machine["metadata"]["uid"]}
    file, log = tmp_path / "host", kernel_log(region, CLUSTER, node)

    def replaced() -> bool:
        if log.exists() and not log.stat().st_size:
            inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        there = uids(region)
        return machine["metadata"]["uid"] not in there and len(there) == NODES == len(node_names(region))

    with watched_power(region, CLUSTER, name, file), counted_repairs(region, CLUSTER, file.with_suffix(".repairs")):
        inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        wait_until(replaced, timeout_seconds=6 * SECONDS, what="a spare host replaces the node")

    assert power_states(file)[:5] == [True, False, True, False, True]
    assert len(watched_uids(file.with_suffix(".repairs"))) == 1
    assert others < uids(region), "no other node is replaced"
    assert name not in {host_of(region, one) for one in machines(region)}
    assert UNHEALTHY.items() <= notes(region, name).items()
    assert dig(host(region, name), "spec", "consumerRef") is None
    wait_until(lambda: not repairs(region), timeout_seconds=SECONDS, what="the repair goes with its machine")


def test_without_a_free_host_a_broken_node_waits_and_is_replaced_once_a_host_returns(region: LocalRegion) -> None:
    """Earlier tests have used both spares."""
    let_metal3_wait(region, _HASTY_SECONDS)
    [machine, *_], before = machines(region), uids(region)
    node, name, uid = machine["status"]["nodeRef"]["name"], host_of(region, machine), machine["metadata"]["uid"]
    broken_hosts = [one["metadata"]["name"] for one in region.api().list(*HOST) if UNHEALTHY_KEY in notes_of(one)]
    log = kernel_log(region, CLUSTER, node)

    def waits() -> bool:
        if log.exists() and not log.stat().st_size:
            inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        return any(notes_of(one).get(WAITS_FOR) == SPARE for one in machines(region))

    inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
    wait_until(waits, timeout_seconds=6 * SECONDS, what="the machine waits for a spare")

    time.sleep(_SETTLED_SECONDS)
    assert uids(region) == before
    assert EVICTION["key"] in taints(region, node)
    shown = region.jacquard("show", ENVIRONMENT, "health", "--live", "--format", "json")
    [fault] = [one for one in json.loads(shown.stdout)["faults"] if one["node"] == node]
    assert f"no spare is free to replace it ({NODES - 1} h100-ib-8 nodes of acme take pods" in fault["next_action"]
    status = region.jacquard("status", ENVIRONMENT)
    assert "cannot be repaired and waits for a free host that replaces it" in " ".join(status.text.split())

    patch = {"metadata": {"annotations": {UNHEALTHY_KEY: None, REPAIRS: None}}}
    region.api().patch(ObjectRef(*HOST, broken_hosts[0], CLUSTER), patch, field_manager="test")
    wait_until(
        lambda: uid not in uids(region) and len(node_names(region)) == NODES,
        timeout_seconds=3 * SECONDS,
        what="the host that returned replaces the node",
    )
    assert name not in {host_of(region, one) for one in machines(region)}
    assert before - {uid} < uids(region), "no other node is replaced"


def test_a_fault_of_all_nodes_of_a_rack_repairs_no_more_than_the_limit(region: LocalRegion, tmp_path: Path) -> None:
    let_metal3_wait(region, _PATIENT_SECONDS)
    wait_until(
        lambda: all(is_well(region, node) for node in node_names(region)), timeout_seconds=SECONDS, what="all are well"
    )
    limits = [dig(one, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo") for one in checks(region)]
    nodes, before = node_names(region), uids(region)
    lost = f"{LOST} of all nodes"

    with counted_repairs(region, CLUSTER, tmp_path / "repairs"):
        for node in nodes:
            inject_kernel_log(region, CLUSTER, node, FELL_OFF_THE_BUS)
        wait_until(
            lambda: sum(EVICTION["key"] in taints(region, node) for node in nodes) >= NODES - sum(limits),
            timeout_seconds=SECONDS,
            what=lost,
        )
        time.sleep(_SETTLED_SECONDS)

    assert sum(limits) < NODES
    assert len(watched_uids(tmp_path / "repairs")) <= sum(limits)
    assert uids(region) == before
