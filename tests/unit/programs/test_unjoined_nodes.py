"""Machines whose node never joined: Metal3 takes no step of their remediation (`failed_repairs`)."""

from __future__ import annotations

from typing import Any

import pytest

from components.programs.failed_repairs import NEVER_JOINED, REPAIRS, SPARE, WAITS_FOR
from components.programs.spare_hosts import MARK, UNHEALTHY
from tests.support.objects.remediations import GROUP, Management

LIMIT = {"": {"repairs": 1, "within_hours": 168}}
EARLIER, LATER = "2026-11-20T06:59:59Z", "2026-11-20T07:00:01Z"
"""Ends of a provisioning, one hour and one second, and almost one hour, before the run of the program."""
HANDED_OVER = {
    "baremetalhosts": {REPAIRS: NEVER_JOINED, UNHEALTHY: MARK},
    "machines/status": ["OwnerRemediated"],
}


def unjoined(status: dict[str, Any], *, seconds: int | None = 3600, **annotations: str) -> Management:
    """Return a cluster with a Machine without a Node, the status of its host, and the startup timeout of its group."""
    cluster = Management(**annotations)
    machine, host = cluster.objects["machines"], cluster.objects["baremetalhosts"]
    assert machine is not None
    assert host is not None
    del machine["status"]["nodeRef"]
    host["status"] = status
    checks = {} if seconds is None else {"nodeStartupTimeoutSeconds": seconds}
    metadata = {"name": GROUP, "namespace": "acme-train"}
    cluster.objects["machinehealthchecks"] = {"metadata": metadata, "spec": {"checks": checks}}
    return cluster


def booted(end: str | None = EARLIER, state: str = "provisioned") -> dict[str, Any]:
    return {"provisioning": {"state": state}, "operationHistory": {"provision": {"start": LATER, "end": end}}}


@pytest.mark.parametrize("status", [booted(), {"errorType": "provisioning error", "provisioning": {}}])
def test_a_spare_replaces_a_node_that_did_not_join(status: dict[str, Any]) -> None:
    assert unjoined(status).run("Running", limits=LIMIT) == HANDED_OVER


@pytest.mark.parametrize(
    "status",
    [
        {},
        booted(LATER),
        booted(None),
        booted(state="provisioning"),
        {"provisioning": {"state": "provisioned"}},
        {**booted(LATER), "errorType": "power management error"},
    ],
)
def test_a_node_that_may_still_join_is_neither_replaced_nor_counted(status: dict[str, Any]) -> None:
    assert unjoined(status).run("Running", limits=LIMIT) == {}


@pytest.mark.parametrize("seconds", [None, 0])
def test_without_a_startup_timeout_a_node_may_always_join(seconds: int | None) -> None:
    assert unjoined(booted(), seconds=seconds).run("Running", limits=LIMIT) == {}


def test_without_a_free_host_the_machine_stays_and_its_host_is_not_marked() -> None:
    assert unjoined(booted()).run("Running", limits=LIMIT, hosts=[]) == {"machines": {WAITS_FOR: SPARE}}


def test_a_host_that_is_marked_already_keeps_its_mark() -> None:
    marked = unjoined(booted(), **{UNHEALTHY: MARK})
    assert marked.run("Running", limits=LIMIT) == {"machines/status": ["OwnerRemediated"]}


def test_a_machine_that_is_healthy_or_deleted_again_stays() -> None:
    cluster = unjoined(booted())
    assert cluster.objects["machines"] is not None
    cluster.objects["machines"]["status"]["conditions"] = []
    assert cluster.run("Running", limits=LIMIT) == {}


def test_a_machine_without_a_host_waits_for_one() -> None:
    cluster = unjoined(booted())
    cluster.objects["metal3machines"] = None
    assert cluster.run("Running", limits=LIMIT) == {}
