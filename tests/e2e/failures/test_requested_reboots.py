"""Manually requested reboots, by a line in the kernel log of a node or by an annotation of its host.

The real node-problem-detector reads the line, and the real Cluster API starts the reboot. Metal3, kubelets and the
power of hosts are simulated. Timeouts of health checks are seconds instead of minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.programs.failed_repairs import REPAIRS, REQUESTED_AT
from components.programs.objects import REQUESTED
from components.render.health.quarantine import QUARANTINE
from jacquard.providers.kube import ObjectRef
from tests.support.changes.unavailable_nodes import uids
from tests.support.local_regions.faulty_nodes import (
    SECONDS,
    checks,
    condition,
    hasten,
    host_of,
    is_well,
    job,
    let_metal3_wait,
    machines,
    node_names,
    node_of,
    notes,
    notes_of,
    reasons,
    repairs,
    run_job,
    runs,
    taints,
    with_problem_detectors,
)
from tests.support.local_regions.host_power import HOST, power_states, watched_power
from tests.support.local_regions.kernel_logs import inject_kernel_log
from tests.support.local_regions.local_region import LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER, edit, region_of

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POOL, NODES = "train", 2
SPEED = 20
WHEN_IDLE = "RebootWhenIdleRequested"
_SETTLED_SECONDS = 15.0
_PATIENT_SECONDS = 3600
"""Time that Metal3 waits for a node to be healthy again, before division by the speed of the region."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A pool of two nodes with problem detectors."""
    folder = tmp_path_factory.mktemp("requested-reboots")
    with deleted_at_exit(region_of(folder, {POOL: {"nodes": NODES}}, racks=1)) as local:
        edit(local, with_problem_detectors)
        local.variables["JACQUARD_SPEED"] = str(SPEED)
        local.up()
        for check in checks(local):
            hasten(local, check)
        let_metal3_wait(local, _PATIENT_SECONDS)
        wait_until(
            lambda: all(condition(local, node, REQUESTED) == "False" for node in node_names(local)),
            timeout_seconds=SECONDS,
            what="all nodes have the condition",
        )
        yield local


def boots(region: LocalRegion) -> dict[str, str]:
    return {name: str(node_of(region, name)["status"]["nodeInfo"]["bootID"]) for name in node_names(region)}


def records(region: LocalRegion) -> list[dict[str, Any]]:
    """Return the events of requests."""
    events = region.api(CLUSTER).list("v1", "Event", namespace="default")
    return [one for one in events if one["reason"] == REQUESTED]


def test_a_requested_reboot_happens_once_on_that_node_and_records_requester_and_reason(
    region: LocalRegion, tmp_path: Path
) -> None:
    machine, before, earlier, file = machines(region)[0], uids(region), boots(region), tmp_path / "host"
    node, name = machine["status"]["nodeRef"]["name"], host_of(region, machine)
    run_job(region, node, "in-the-way")

    with watched_power(region, CLUSTER, name, file):
        inject_kernel_log(region, CLUSTER, node, "jacquard: reboot requested by anna@example.com: cable of port 3")
        wait_until(lambda: bool(repairs(region)), timeout_seconds=SECONDS, what="Cluster API starts the reboot")
        wait_until(
            lambda: is_well(region, node) and condition(region, node, REQUESTED) == "False",
            timeout_seconds=SECONDS,
            what="the request ends with the boot",
        )

    assert power_states(file) == [True, False, True]
    assert {one for one, boot in boots(region).items() if boot != earlier[one]} == {node}
    assert (uids(region), job(region, "in-the-way")) == (before, {})
    assert [one["involvedObject"]["name"] for one in records(region)] == [node]
    assert "requested by anna@example.com: cable of port 3" in records(region)[0]["message"]
    assert [one["metadata"]["name"] for one in machines(region) if REQUESTED_AT in notes_of(one)] == [
        machine["metadata"]["name"]
    ]
    assert REPAIRS not in notes(region, name), "a requested reboot is no repair"


def test_a_reboot_requested_for_when_a_node_is_idle_waits_for_its_job(region: LocalRegion, tmp_path: Path) -> None:
    machine, before, file = machines(region)[1], uids(region), tmp_path / "host"
    node, name = machine["status"]["nodeRef"]["name"], host_of(region, machine)
    uid = run_job(region, node, "patient")

    with watched_power(region, CLUSTER, name, file):
        inject_kernel_log(region, CLUSTER, node, "jacquard: reboot when idle requested by cron: new kernel parameters")
        wait_until(lambda: QUARANTINE["key"] in taints(region, node), timeout_seconds=SECONDS, what="the taint is set")
        time.sleep(_SETTLED_SECONDS)
        assert runs(region, "patient")
        assert (job(region, "patient")["metadata"]["uid"], power_states(file)) == (uid, [True])
        region.api(CLUSTER).delete(ObjectRef("v1", "Pod", "patient", "default"))
        wait_until(
            lambda: condition(region, node, WHEN_IDLE) == "False" and QUARANTINE["key"] not in taints(region, node),
            timeout_seconds=2 * SECONDS,
            what="the node is rebooted and takes pods again",
        )
        wait_until(lambda: is_well(region, node), timeout_seconds=SECONDS, what="the reboot ends")

    assert power_states(file) == [True, False, True]
    assert uids(region) == before
    assert REPAIRS not in notes(region, name), "a requested reboot is no repair"


def test_an_annotation_of_a_host_reboots_it_exactly_once(region: LocalRegion, tmp_path: Path) -> None:
    machine = machines(region)[1]
    node, name, file = machine["status"]["nodeRef"]["name"], host_of(region, machine), tmp_path / "host"
    boot, rebooted = boots(region)[node], reasons(region, node).count("Rebooted")
    with watched_power(region, CLUSTER, name, file):
        patch = {"metadata": {"annotations": {"reboot.metal3.io": ""}}}
        region.api().patch(ObjectRef(*HOST, name, CLUSTER), patch, field_manager="test")
        wait_until(
            lambda: node_of(region, node)["status"]["nodeInfo"]["bootID"] != boot and is_well(region, node),
            timeout_seconds=SECONDS,
            what="the node is ready after its reboot",
        )

    assert power_states(file) == [True, False, True]
    assert "reboot.metal3.io" not in notes(region, name)
    assert reasons(region, node).count("Rebooted") == rebooted + 1
    assert repairs(region) == []
