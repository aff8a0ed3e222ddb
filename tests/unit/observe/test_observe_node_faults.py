"""Faults of nodes: relevant conditions, the reaction to each, and the host."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.programs.failed_repairs import REPAIRS, RETURNED, SPARE, WAITS_FOR
from components.programs.repair_times import APPROVED
from components.programs.spare_hosts import MARK, UNHEALTHY
from components.render.add_ons.declared_hardware import UNLIKE
from components.render.health.quarantine import EVICTION
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction
from components.specs.hosts.host_tests import HostTestSpec
from components.specs.pools.nodes import Windows
from components.specs.region.policy import FreezeSpec
from components.specs.region.tenant import ChangesSpec
from jacquard.observe.nodes.faults import node_faults
from jacquard.observe.observation import Observation
from tests.support.objects.faulty_node_objects import AT, node

NOW = dt.datetime(2026, 11, 20, 9, tzinfo=dt.UTC)
WINDOW = {"days": ["sat", "sun"], "from": "22:00", "to": "02:00", "timezone": "Europe/Berlin"}
FREEZE = {"name": "quiet", "from": "2026-11-19T00:00:00Z", "to": "2026-11-21T00:00:00Z", "reason": "a run"}
LATER = {**FREEZE, "from": "2026-12-01T00:00:00Z", "to": "2026-12-09T00:00:00Z"}
AFTER_FREEZE = "after 2026-11-21T00:00:00+00:00, the end of the freeze,"
ASKED = {"repair_approval": "required"}
IN_WINDOW = "in the tenant's window (sat,sun 22:00 Europe/Berlin)"
REMEDY = "return a repaired host of the pool to production, or assign more hosts"
TRIAGE = "jacquard host laptop a01-u01 --to triage --reason TEXT"
EARLIER, LONG_AGO = "2026-11-19T08:30:00Z", "2026-11-01T08:30:00Z"


def found(laptop: Environment, *nodes: dict[str, Any], **management: list[dict[str, Any]]) -> list[Any]:
    objects = {("acme-train", "Node"): list(nodes)}
    objects |= {(MANAGEMENT, kind): bodies for kind, bodies in management.items()}
    return list(node_faults(laptop, Observation(objects=objects, at=NOW)))


def test_a_sound_node_has_no_fault(laptop: Environment) -> None:
    assert found(laptop, node("x1"), node("x2", GpuLost="False"), node("x3", pool="", GpuLost="True")) == []


def test_each_condition_is_a_fault_with_its_action_and_host(laptop: Environment) -> None:
    faults = found(laptop, node("x1", GpuLost="True", NicFailed="True"), node("x2", Ready="Unknown", Odd="True"))

    assert [(one.node, one.host, one.condition, one.action) for one in faults] == [
        ("x1", "a01-u01", "GpuLost", HealthAction.REPAIR),
        ("x1", "a01-u01", "NicFailed", HealthAction.QUARANTINE),
        ("x2", "a01-u02", "Odd", None),
        ("x2", "a01-u02", "NotReady", HealthAction.REPAIR),
    ]
    assert (str(faults[0].since), faults[0].message) == ("2026-11-20 08:30:00+00:00", "about GpuLost")
    assert [one.next_action for one in faults] == [
        "none; the host is rebooted, then the node is replaced, within the limit of its rollout group",
        f"at any time, because Cluster API waits for the jobs of the node: {TRIAGE}",
        "none; look at the alert",
        "none; the host is rebooted, then the node is replaced, within the limit of its rollout group",
    ]


def test_a_fault_has_the_last_recorded_test_of_its_host(laptop: Environment) -> None:
    test = HostTestSpec(passed=dt.datetime(2026, 11, 1, tzinfo=dt.UTC), digest=f"sha256:{'a' * 64}")
    recorded = laptop.model_copy(update={"host_tests": {"a01-u01": test}})

    faults = found(recorded, node("x1", GpuLost="True"), node("x2", GpuLost="True"))

    assert [fault.evidence for fault in faults] == [test, None]


def test_a_failed_burn_in_and_a_failed_verification_are_faults_and_passed_ones_are_not(laptop: Environment) -> None:
    passed = node("x1", BurnInPassed="True", NodeTestFailed="False")
    faults = found(laptop, passed, node("x2", BurnInPassed="False"), node("x3", NodeTestFailed="True"))

    assert [(one.node, one.condition, one.action) for one in faults] == [
        ("x2", "BurnInPassed", HealthAction.QUARANTINE),
        ("x3", "NodeTestFailed", HealthAction.QUARANTINE),
    ]


@pytest.mark.parametrize(
    ("changes", "windows", "freezes", "annotations", "step"),
    [
        ({}, Windows.ENFORCE, (), {}, "none; the host is rebooted once"),
        ({"window": WINDOW}, Windows.ANNOTATE, (FREEZE,), {}, "none; the host is rebooted once"),
        ({"window": WINDOW}, Windows.ENFORCE, (), {}, f"none; the host is rebooted {IN_WINDOW} once"),
        (
            ASKED,
            Windows.ANNOTATE,
            (),
            {APPROVED: "boot-0"},
            f"approve the reboot by kubectl annotate node x1 --overwrite {APPROVED}=boot-1; the host is rebooted once",
        ),
        (ASKED, Windows.ANNOTATE, (), {APPROVED: "boot-1"}, "none; the host is rebooted once"),
        ({}, Windows.ENFORCE, (FREEZE, LATER), {}, f"none; the host is rebooted {AFTER_FREEZE} once"),
    ],
)
def test_an_idle_node_is_rebooted_when_its_tenant_permits_it(
    laptop: Environment,
    changes: dict[str, Any],
    windows: Windows,
    freezes: tuple[dict[str, Any], ...],
    annotations: dict[str, str],
    step: str,
) -> None:
    [acme, *others] = laptop.tenants
    nodes = laptop.region.nodes.model_copy(update={"windows": windows})
    policy = laptop.policy.model_copy(update={"freezes": tuple(map(FreezeSpec.model_validate, freezes))})
    changed = laptop.model_copy(
        update={
            "region": laptop.region.model_copy(update={"nodes": nodes}),
            "tenants": (acme.model_copy(update={"changes": ChangesSpec.model_validate(changes)}), *others),
            "policy": policy,
        }
    )
    body = node("x1", GpuResetRequired="True", RebootWhenIdleRequested="True")
    body["metadata"]["annotations"] = annotations
    body["status"]["nodeInfo"] = {"bootID": "boot-1"}

    waits, requested = found(changed, body)

    rest = "only pods of DaemonSets are left, within the limit of its rollout group"
    assert waits.next_action == f"{step} {rest}"
    assert requested.next_action == f"none; the host is rebooted once {rest}"


@pytest.mark.parametrize(
    ("phase", "next_action"),
    [
        ("Waiting", "none; a remediation is in progress (Waiting)"),
        ("Deleting machine", "none; a spare replaces the node, because reboots did not help"),
    ],
)
def test_a_remediation_in_progress_is_reported_by_its_phase(laptop: Environment, phase: str, next_action: str) -> None:
    there = {"name": "m1", "namespace": "acme-train"}
    machine = {"metadata": there, "status": {"nodeRef": {"name": "x1"}}}
    remediation = {"metadata": there, "status": {"phase": phase}}

    [fault] = found(laptop, node("x1", GpuLost="True"), Machine=[machine], Metal3Remediation=[remediation])

    assert (fault.remediation, fault.next_action) == (phase, next_action)


@pytest.mark.parametrize(
    ("annotations", "phase", "starts", "text"),
    [
        (
            {REPAIRS: EARLIER},
            None,
            [EARLIER],
            "none; the host is rebooted and a spare replaces the node, because an earlier repair did not last",
        ),
        (
            {REPAIRS: LONG_AGO},
            None,
            [],
            "none; the host is rebooted, then the node is replaced, within the limit of its rollout group",
        ),
        ({REPAIRS: AT}, "Waiting", [AT], "none; a remediation is in progress (Waiting)"),
        (
            {REPAIRS: f"{EARLIER} {AT} {RETURNED}", UNHEALTHY: MARK},
            "Running",
            [EARLIER, AT],
            "none; a spare replaces the node after the reboot, because the fault returned (Running)",
        ),
    ],
)
def test_earlier_remediations_of_the_host_decide_the_next_step(
    laptop: Environment, annotations: dict[str, str], phase: str | None, starts: list[str], text: str
) -> None:
    there = {"name": "m1", "namespace": "acme-train"}
    host = {"metadata": {"name": "a01-u01", "namespace": "acme-train", "annotations": annotations}}
    free = {
        "metadata": {"name": "a01-u08", "namespace": "acme-train"},
        "status": {"provisioning": {"state": "available"}},
    }
    management = {
        "BareMetalHost": [host, free],
        "Machine": [{"metadata": there, "status": {"nodeRef": {"name": "x1"}}}],
    }
    if phase:
        management["Metal3Remediation"] = [{"metadata": there, "status": {"phase": phase}}]

    [fault] = found(laptop, node("x1", GpuLost="True"), **management)

    assert [f"{start:%Y-%m-%dT%H:%M:%SZ}" for start in fault.repairs] == starts
    assert fault.next_action == text


@pytest.mark.parametrize(
    ("machine", "phase", "spares", "text"),
    [
        (
            {},
            None,
            0,
            "none; the host is rebooted again, and its node stays in use, because no spare is free to replace it",
        ),
        (
            {},
            None,
            1,
            "none; the host is rebooted and a spare replaces the node, because an earlier repair did not last",
        ),
        (
            {WAITS_FOR: SPARE},
            "Deleting machine",
            0,
            f"{REMEDY}; no spare is free to replace it (1 h100-ib-8 nodes of acme take pods, 14 are contracted)",
        ),
    ],
)
def test_without_a_free_host_of_the_pool_and_failure_domain_no_spare_replaces_a_node(
    laptop: Environment, machine: dict[str, str], phase: str | None, spares: int, text: str
) -> None:
    there = {"name": "m1", "namespace": "acme-train"}
    labels = {"jacquard.dev/pool": "train", "jacquard.dev/failure-domain": "a01"}
    known = {"namespace": "acme-train", "labels": labels}
    free = {"status": {"provisioning": {"state": "available"}}}
    elsewhere = {"metadata": {**known, "name": "a02-u01", "labels": {**labels, "jacquard.dev/failure-domain": "a02"}}}
    hosts = [{"metadata": {**known, "name": "a01-u01", "annotations": {REPAIRS: EARLIER}}}, {**elsewhere, **free}]
    hosts += [{"metadata": {**known, "name": f"a01-u0{number + 8}"}, **free} for number in range(spares)]
    machines = [{"metadata": {**there, "annotations": machine}, "status": {"nodeRef": {"name": "x1"}}}]
    repairs = [{"metadata": there, "status": {"phase": phase}}] if phase else []

    management = {"BareMetalHost": hosts, "Machine": machines, "Metal3Remediation": repairs}
    lost, sound = node("x1", GpuLost="True"), node("x2")
    for body in (lost, sound):
        body["metadata"]["labels"]["node-restriction.kubernetes.io/instance-type"] = "h100-ib-8"
    lost["spec"]["taints"] = [EVICTION]
    [fault] = found(laptop, lost, sound, **management)

    assert fault.next_action == text


def test_a_node_without_a_gpu_of_its_type_is_a_fault(laptop: Environment) -> None:
    lacking = node("x1")
    lacking["spec"]["taints"] = [{"key": UNLIKE, "effect": "NoSchedule"}]

    [fault] = found(laptop, lacking)

    assert (fault.condition, fault.action, fault.since) == (UNLIKE, HealthAction.QUARANTINE, None)
    assert fault.message == "a GPU, fabric port or DPU function is missing, or of another model"
    assert fault.next_action.endswith(f"jobs of the node: {TRIAGE}")


@pytest.mark.parametrize(
    ("changes", "when"),
    [
        ({"approval": "not-required"}, "when its jobs have ended"),
        ({}, "when its jobs have ended, or with the tenant's approval"),
        (
            {"window": WINDOW},
            f"when its jobs have ended, or with the tenant's approval {IN_WINDOW}",
        ),
        (
            {"approval": "not-required", "window": WINDOW},
            f"when its jobs have ended, or {IN_WINDOW}",
        ),
    ],
)
def test_a_soft_fault_waits_for_jobs_or_the_tenants_approval(
    laptop: Environment, changes: dict[str, Any], when: str
) -> None:
    acme, *others = laptop.tenants
    tenant = acme.model_copy(update={"changes": ChangesSpec.model_validate(changes)})
    changed = laptop.model_copy(update={"tenants": (tenant, *others)})

    [fault] = found(changed, node("x1", pool="infer", NicFailed="True"))

    assert fault.next_action == f"{when}: {TRIAGE}"


def test_a_requested_reboot_of_a_repaired_host_does_not_replace_its_node(laptop: Environment) -> None:
    host = {"metadata": {"name": "a01-u01", "namespace": "acme-train", "annotations": {REPAIRS: EARLIER}}}

    [fault] = found(laptop, node("x1", RebootRequested="True"), BareMetalHost=[host])

    assert fault.next_action == (
        "none; the host is rebooted, then the node is replaced, within the limit of its rollout group"
    )
