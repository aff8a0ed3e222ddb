"""Which Machines are handed over for replacement after Metal3 has given up, and with which rights."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.inputs.region import of_region
from components.programs.failed_repairs import GAVE_UP, condition, given_up, stays
from components.render.manifest import Manifest, objects
from components.render.pools.failed_repairs import FailedRepairs
from components.specs.environment import Environment

CONDITIONS: dict[str, str] = {"HealthCheckSucceeded": "False", "NodeHealthy": "False"}


def remediation(name: str, phase: str | None) -> dict[str, Any]:
    owners = [{"kind": "Machine", "name": f"machine-{name}"}]
    return {
        "metadata": {"name": name, "namespace": "acme-train", "ownerReferences": owners},
        **({"status": {"phase": phase}} if phase else {}),
    }


def machine(**conditions: str) -> dict[str, Any]:
    told = [{"type": kind, "status": status} for kind, status in conditions.items()]
    return {"metadata": {"name": "m", "namespace": "acme-train"}, "status": {"conditions": told}}


def test_only_repairs_that_have_given_up_count() -> None:
    every = [remediation("a", None), remediation("b", "Waiting"), remediation("c", GAVE_UP), remediation("d", "Failed")]

    assert list(given_up(every)) == [("acme-train", "machine-c")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (machine(**CONDITIONS), True),
        (None, False),
        ({**machine(**CONDITIONS), "metadata": {"deletionTimestamp": "now"}}, False),
        (machine(**CONDITIONS, OwnerRemediated="False"), False),
        (machine(HealthCheckSucceeded="True"), False),
        (machine(), False),
        ({"metadata": {"name": "m"}}, False),
    ],
)
def test_a_machine_that_nothing_replaces_is_handed_over(found: dict[str, Any] | None, *, expected: bool) -> None:
    assert stays(found) is expected


def test_the_condition_is_what_cluster_api_looks_for() -> None:
    told = condition(dt.datetime(2026, 11, 20, 8, tzinfo=dt.UTC))

    assert (told["type"], told["status"]) == ("OwnerRemediated", "False")
    assert told["lastTransitionTime"] == "2026-11-20T08:00:00Z"


def test_the_program_may_read_machines_and_write_their_status_only() -> None:
    made = {item.kind: item.body for item in FailedRepairs(image="python@sha256:1").render().members.values()}

    assert {(resource, *rule["verbs"]) for rule in made["ClusterRole"]["rules"] for resource in rule["resources"]} == {
        ("metal3remediations", "list"),
        ("machines", "get"),
        ("machines/status", "patch"),
    }
    assert {*made["ConfigMap"]["data"]} == {"failed_repairs.py", "api.py"}
    [container] = made["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python3", "-m", "components.programs.failed_repairs"]


def test_regions_without_metal3_or_python_have_no_such_program(laptop: Environment) -> None:
    def programs(environment: Environment) -> list[Manifest]:
        [made] = of_region(environment, environment.region)
        return [item for item in objects(made.render()) if item.name == "failed-repairs"]

    others = tuple(tool for tool in laptop.versions.tools if tool.name != "python")
    without = laptop.versions.model_copy(update={"tools": others})

    assert programs(laptop) != []
    assert programs(laptop.model_copy(update={"versions": without})) == []
