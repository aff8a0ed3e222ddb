"""Counted remediations, Machines that are replaced after them, and the permissions of the program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.region import of_region
from components.lookups.health.node_checks import repair_limits
from components.programs import failed_repairs
from components.programs.failed_repairs import (
    GAVE_UP,
    REMEDIATE,
    REPAIRS,
    REQUESTED_AT,
    RETURNED,
    SPARE,
    WAITS_FOR,
    condition,
    stays,
)
from components.programs.spare_hosts import MARK, UNHEALTHY, Spares, is_free
from components.render import labels as keys
from components.render.manifest import Manifest, objects
from components.render.pools.failed_repairs import LIMITS, FailedRepairs
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthCatalog, RepairLimit
from jacquard.lab.rehearsal.operators.hosts import remediation
from tests.support.objects.remediations import NOW, SELECTED, STARTED, UNHEALTHY_MACHINE, Management, machine, spare

YESTERDAY, LONG_AGO = "2026-11-19T07:50:00Z", "2026-11-13T07:59:59Z"
LIMIT = {"": {"repairs": 1, "within_hours": 168}}


def run(cluster: Management, phase: str | None, *finalizers: str, limits: Any = LIMIT) -> dict[str, Any]:
    return cluster.run(phase, *finalizers, limits=limits)


@pytest.mark.parametrize("phase", [None, "Failed"])
def test_a_repair_without_a_reboot_is_not_counted(phase: str | None) -> None:
    assert run(Management(), phase) == {}


@pytest.mark.parametrize(
    ("earlier", "recorded"),
    [("", STARTED), (LONG_AGO, STARTED), ("rubbish 2026-11-19", STARTED), (STARTED, None)],
)
def test_the_first_repair_within_the_window_is_recorded_once(earlier: str, recorded: str | None) -> None:
    expected = {"baremetalhosts": {REPAIRS: recorded}} if recorded else {}
    assert run(Management(earlier), "Waiting") == expected


@pytest.mark.parametrize(
    ("faults", "written"),
    [
        (["RebootRequested RebootRequested"], {"machines": {REQUESTED_AT: STARTED}}),
        (["IdleWithFault RebootRequested"], {"machines": {REQUESTED_AT: STARTED}}),
        (["IdleWithFault RebootRequired"], {"baremetalhosts": {REPAIRS: STARTED}}),
        (["RebootRequested RebootRequested", "GpuLost Xid79"], {"baremetalhosts": {REPAIRS: STARTED}}),
    ],
)
def test_a_requested_reboot_is_marked_and_not_counted(faults: list[str], written: dict[str, Any]) -> None:
    assert run(Management(faults=faults), "Running") == written


def test_a_requested_reboot_stays_one_when_the_node_is_healthy_or_boots() -> None:
    cluster = Management(YESTERDAY, faults=["RebootRequested RebootRequested", "Ready NodeStatusUnknown"])
    assert cluster.objects["machines"] is not None
    cluster.objects["machines"]["metadata"]["annotations"] = {REQUESTED_AT: STARTED}

    assert run(cluster, "Waiting") == {}


def test_a_repair_after_a_requested_reboot_is_counted() -> None:
    cluster = Management(faults=["GpuLost Xid79"])
    assert cluster.objects["machines"] is not None
    cluster.objects["machines"]["metadata"]["annotations"] = {REQUESTED_AT: YESTERDAY}

    assert run(cluster, "Waiting") == {"baremetalhosts": {REPAIRS: STARTED}}


def test_the_second_repair_ends_after_its_reboot_and_a_spare_replaces_the_node() -> None:
    assert run(Management(YESTERDAY), "Waiting") == {
        "baremetalhosts": {REPAIRS: f"{YESTERDAY} {STARTED} {RETURNED}", UNHEALTHY: MARK},
        "machines": {REMEDIATE: ""},
        "metal3remediations/status": {"phase": GAVE_UP},
        "machines/status": ["OwnerRemediated"],
    }


@pytest.mark.parametrize(("phase", "finalizers"), [("Running", ()), ("Running", ("f",)), ("Waiting", ("f",))])
def test_no_repair_ends_while_metal3_keeps_the_power_off(phase: str, finalizers: tuple[str, ...]) -> None:
    """Metal3 would leave its request to keep the power off on the host forever."""
    assert run(Management(YESTERDAY), phase, *finalizers).keys() == {"baremetalhosts", "machines"}


def test_the_limit_is_that_of_the_instance_type() -> None:
    limits = {**LIMIT, "h100-ib-8": {"repairs": 2, "within_hours": 24}}
    assert run(Management(YESTERDAY), "Waiting", limits=limits) == {"baremetalhosts": {REPAIRS: STARTED}}
    limits["h100-ib-8"]["within_hours"] = 25
    assert run(Management(YESTERDAY), "Waiting", limits=limits) == {
        "baremetalhosts": {REPAIRS: f"{YESTERDAY} {STARTED}"}
    }


def test_without_a_free_host_the_node_stays_in_use_after_its_reboot() -> None:
    """The remediation continues as a first one, and Cluster API ends it when the node is healthy."""
    recorded = {"baremetalhosts": {REPAIRS: f"{YESTERDAY} {STARTED}"}}
    assert Management(YESTERDAY).run("Waiting", limits=LIMIT, hosts=[]) == recorded


def test_without_a_free_host_a_machine_whose_repair_failed_waits_for_one() -> None:
    waiting = Management(STARTED)
    assert waiting.run(GAVE_UP, limits=LIMIT, hosts=[]) == {"machines": {WAITS_FOR: SPARE}}

    waiting.objects["machines"]["metadata"]["annotations"] = {WAITS_FOR: SPARE}  # type: ignore[index]
    waiting.written.clear()
    assert waiting.run(GAVE_UP, limits=LIMIT, hosts=[]) == {}
    assert waiting.run(GAVE_UP, limits=LIMIT) == {"machines/status": ["OwnerRemediated"]}
    waiting.written.clear()
    assert waiting.run("Running", limits=LIMIT) == {"machines": {WAITS_FOR: None}}


def test_a_replaced_machine_claims_no_further_host() -> None:
    leaving = Management(f"{YESTERDAY} {STARTED}")
    leaving.objects["machines"] = machine(**UNHEALTHY_MACHINE, OwnerRemediated="False")
    assert run(leaving, GAVE_UP) == {}


def test_each_free_host_replaces_one_host() -> None:
    broken: dict[str, Any] = {
        "metadata": {"namespace": "acme-train"},
        "spec": {"hostSelector": {"matchLabels": SELECTED}},
    }
    elsewhere = {**broken, "metadata": {"namespace": "globex-lab"}}
    other: dict[str, Any] = {
        **broken,
        "spec": {"hostSelector": {"matchLabels": {**SELECTED, "jacquard.dev/pool": "infer"}}},
    }
    spares = Spares([spare()])

    assert [spares.take(one) for one in (elsewhere, other, broken, broken)] == [False, False, True, False]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (spare(), True),
        (spare("ready"), True),
        (spare("provisioned"), False),
        (spare(**{UNHEALTHY: MARK}), False),
        (spare(**{"baremetalhost.metal3.io/paused": ""}), False),
        ({**spare(), "spec": {"consumerRef": {"name": "m"}}}, False),
        ({**spare(), "status": {"provisioning": {"state": "available"}, "errorMessage": "no power"}}, False),
        ({**spare(), "metadata": {"name": "h9", "deletionTimestamp": "now"}}, False),
        ({"metadata": {"name": "h9"}}, False),
    ],
)
def test_a_host_is_free_if_metal3_would_claim_it(host: dict[str, Any], *, expected: bool) -> None:
    assert is_free(host) is expected


def test_the_mark_of_metal3_is_kept() -> None:
    marked = Management(STARTED, **{UNHEALTHY: MARK})
    assert run(marked, GAVE_UP) == {"machines/status": ["OwnerRemediated"]}


def test_the_marks_of_metal3_and_of_the_program_are_equal_since_another_value_would_be_a_conflict() -> None:
    assert {UNHEALTHY: MARK} == remediation.UNHEALTHY


def test_a_marked_repair_ends_when_no_host_is_free_any_more() -> None:
    marked = Management(f"{YESTERDAY} {STARTED} {RETURNED}", **{UNHEALTHY: MARK})

    assert marked.run("Waiting", limits=LIMIT, hosts=[])["metal3remediations/status"] == {"phase": GAVE_UP}
    unmarked = Management(f"{YESTERDAY} {STARTED} {RETURNED}")
    assert "metal3remediations/status" not in unmarked.run("Waiting", limits=LIMIT, hosts=[])


def test_a_machine_without_a_host_is_handed_over_all_the_same() -> None:
    cluster = Management()
    cluster.objects["metal3machines"] = None
    assert run(cluster, GAVE_UP) == {"machines/status": ["OwnerRemediated"]}
    cluster = Management()
    cluster.objects["machines"] = None
    assert run(cluster, GAVE_UP) == {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (machine(**UNHEALTHY_MACHINE), True),
        ({**machine(**UNHEALTHY_MACHINE), "metadata": {"deletionTimestamp": "now"}}, False),
        (machine(**UNHEALTHY_MACHINE, OwnerRemediated="False"), False),
        (machine(HealthCheckSucceeded="True"), False),
        (machine(), False),
        ({"metadata": {"name": "m"}}, False),
    ],
)
def test_a_machine_that_nothing_replaces_is_handed_over(body: dict[str, Any], *, expected: bool) -> None:
    assert stays(body) is expected


def test_the_condition_has_the_type_of_cluster_api() -> None:
    written = condition(NOW, "reboots did not help")

    assert (written["type"], written["status"], written["message"]) == (
        "OwnerRemediated",
        "False",
        "reboots did not help",
    )
    assert written["lastTransitionTime"] == "2026-11-20T08:00:00Z"


def test_the_program_uses_the_keys_of_the_library() -> None:
    assert failed_repairs.INSTANCE_TYPE == keys.INSTANCE_TYPE
    assert failed_repairs.GROUP == keys.GROUP
    assert keys.WAITS_FOR == WAITS_FOR


def test_the_program_only_has_the_permissions_that_it_uses() -> None:
    rendered = FailedRepairs(image="python@sha256:1", limits={"": RepairLimit(reason="default")}).render()
    made = {item.kind: item.body for item in rendered.members.values()}

    assert {(resource, *rule["verbs"]) for rule in made["ClusterRole"]["rules"] for resource in rule["resources"]} == {
        ("metal3remediations", "list"),
        ("metal3remediations/status", "patch"),
        ("metal3machines", "get"),
        ("machines", "get", "patch"),
        ("machines/status", "patch"),
        ("machinehealthchecks", "get"),
        ("baremetalhosts", "get", "list", "patch"),
    }
    assert {*made["ConfigMap"]["data"]} == {"failed_repairs.py", "spare_hosts.py", "objects.py", "api.py", LIMITS}
    assert json.loads(made["ConfigMap"]["data"][LIMITS]) == LIMIT
    [container] = made["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python3", "-m", "components.programs.failed_repairs"]
    assert container["args"][2:] == [f"/program/{LIMITS}"]


def test_limits_of_the_catalogue_apply_to_their_types(laptop: Environment) -> None:
    limits = (
        RepairLimit(instance_types=("h100-ib-8",), repairs=3, reason="old boards"),
        RepairLimit(within_hours=24, reason="spares are short"),
    )
    changed = laptop.model_copy(update={"health": HealthCatalog(schema_version=1, repair_limits=limits)})

    assert {kind: (limit.repairs, limit.within_hours) for kind, limit in repair_limits(changed).items()} == {
        "": (1, 24),
        "h100-ib-8": (3, 168),
    }


def test_regions_without_metal3_or_python_have_no_such_program(laptop: Environment) -> None:
    def programs(environment: Environment) -> list[Manifest]:
        [made] = of_region(environment, environment.region)
        return [item for item in objects(made.render()) if item.name == "failed-repairs"]

    others = tuple(tool for tool in laptop.versions.tools if tool.name != "python")
    without = laptop.versions.model_copy(update={"tools": others})

    assert programs(laptop) != []
    assert programs(laptop.model_copy(update={"versions": without})) == []
