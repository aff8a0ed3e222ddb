"""``jacquard audit``: recorded state, evaluated by the current policies."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from policies.rules import RULES
from tests.support.checks.result_formats import annotations, junit, valid_sarif
from tests.support.engine.fake_pulumi import FakePulumi
from tests.support.engine.recorded_region import Resource, exported, record

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
DAY = ("--today", "2026-11-21")
IMAGE = "spec.image"


def of_kind(resources: list[Resource], kind: str) -> Resource:
    return next(item for item in resources if item["type"].rsplit(":", 1)[-1] == kind)


def host(resources: list[Resource]) -> dict[str, Any]:
    """Return the first recorded host."""
    bodies = (body for item in resources for body in item.get("inputs", {}).get("members", {}).values())
    body: dict[str, Any] = next(body for body in bodies if body["kind"] == "BareMetalHost")
    return body


@pytest.mark.usefixtures("recorded")
def test_state_applied_from_valid_data_passes(invoke: Invoke, pulumi: FakePulumi) -> None:
    result = invoke("audit", "laptop", *DAY)

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout == "laptop: ok, 413 recorded objects in 1 stack\n"
    assert pulumi.verbs == ["stack ls --json", "stack export"]


def test_each_recorded_violation_is_refused_with_its_place(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    spoiled = host(recorded)
    spoiled["spec"]["image"] = {"url": "https://images.example/x.raw"}
    del of_kind(recorded, "kubernetes")["inputs"]["clusterIdentifier"]
    of_kind(recorded, "MachineDeployment")["ignoreChanges"] = ["spec.replicas"]
    record(pulumi, recorded)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.REFUSED
    name = f"{spoiled['metadata']['namespace']}/{spoiled['metadata']['name']}"
    lines = [line.strip() for line in result.stderr.splitlines()]
    assert lines[0] == "laptop: 3 policy violations, 414 recorded objects in 1 stack"
    at = lines.index(f"host-beyond-identity: BareMetalHost {name} in cluster management")
    assert lines[at + 1].startswith("in:      recorded state, from environments/laptop/")
    assert lines[at + 2] == f"found:   {IMAGE}"
    assert {line.partition(":")[0] for line in lines} >= {"ignored-changes", "provider-without-cluster-identifier"}
    assert lines[-1] == "refused: laptop: 3 policy violations in the recorded state"


def test_each_format_has_the_violation(invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]) -> None:
    host(recorded)["spec"]["image"] = {"url": "https://images.example/x.raw"}
    record(pulumi, recorded)

    outputs = {form: invoke("audit", "laptop", *DAY, "--format", form) for form in ("sarif", "junit", "github", "json")}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.REFUSED}
    [logged] = valid_sarif(outputs["sarif"].stdout)
    assert (logged["ruleId"], logged["properties"]) == ("host-beyond-identity", {"source": "recorded state"})
    cases = {case.name: case.outcome for case in junit(outputs["junit"].stdout)}
    assert {name for name, outcome in cases.items() if outcome != "passed"} == {"host-beyond-identity"}
    assert cases.keys() == {str(rule.name) for rule in RULES}
    [noted] = annotations(outputs["github"].stdout)
    assert (noted.level, noted.title) == ("error", "host-beyond-identity")
    answer = json.loads(outputs["json"].stdout)
    assert (answer["decision"], answer["stacks"], answer["live"]) == ("refused", {"laptop": 413}, None)
    assert [item["rule"] for item in answer["results"]] == ["host-beyond-identity"]


def test_resources_pending_deletion_or_only_read_are_not_evaluated(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    template = of_kind(recorded, "Metal3MachineTemplate")
    for mark in ("delete", "external"):
        other = copy.deepcopy(template) | {"urn": f"{template['urn']}-{mark}", mark: True}
        other["inputs"]["spec"]["template"]["spec"]["image"] = {"url": "latest"}
        recorded.append(other)
    record(pulumi, recorded)

    assert invoke("audit", "laptop", *DAY).exit_code == ExitCode.OK


def test_a_secret_where_a_policy_reads_is_refused_as_undecided(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    secret = of_kind(recorded, "kubernetes")["inputs"]["kubeconfig"]
    of_kind(recorded, "Metal3MachineTemplate")["inputs"]["spec"]["template"]["spec"]["image"] = secret
    record(pulumi, recorded)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.REFUSED
    assert "is unknown until apply, so the rule cannot decide" in result.stderr


def test_stacks_that_are_no_longer_declared_are_evaluated_too(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    record(pulumi, recorded, "laptop.tenant-gone", "laptop.bootstrap", "other.tenant-acme")

    answer = json.loads(invoke("audit", "laptop", *DAY, "--format", "json").stdout)

    assert list(answer["stacks"]) == ["laptop", "laptop.tenant-gone"]
    assert {item["rule"] for item in answer["results"]} == {"duplicate-object"}
    assert all("of stack laptop, " in item["text"] for item in answer["results"])
    assert all("of stack laptop.tenant-gone\n" in item["text"] for item in answer["results"])


def test_stack_wide_policies_judge_all_recorded_objects_together(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    template = of_kind(recorded, "Metal3MachineTemplate")
    record(pulumi, [item for item in recorded if item is not template])

    answer = json.loads(invoke("audit", "laptop", *DAY, "--format", "json").stdout)

    [found] = answer["results"]
    assert (found["rule"], found["source"], answer["decision"]) == ("missing-template", "recorded state", "refused")
    assert template["inputs"]["metadata"]["name"] in found["text"]


def test_a_region_that_was_never_applied_is_no_success(invoke: Invoke, pulumi: FakePulumi) -> None:
    record(pulumi, [])

    result = invoke("audit", "laptop", *DAY)

    assert (result.exit_code, result.stdout) == (ExitCode.UNREACHABLE, "")
    assert result.stderr == (
        "unreachable: laptop: no stack has a recorded state, so there is nothing to audit; run 'jacquard up laptop'"
        " first, or correct state.backend in region.yaml\n"
    )


def test_a_stack_that_was_never_applied_is_named(
    invoke: Invoke, data_folder: Path, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    region = data_folder / "laptop" / "region.yaml"
    text = region.read_text()
    sliced = text.replace("stacks: whole", "stacks: sliced")
    region.write_text(sliced if "stacks:" in text else f"{text}stacks: sliced\n")
    record(pulumi, [])
    pulumi.answer("stack export", stack="laptop.foundation", stdout=exported(recorded))
    missing = "error: no stack named 'laptop.tenant-acme' found"
    pulumi.answer("stack export", stack="laptop.tenant-acme", stderr=missing, code=255)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.OK
    assert "  never applied: laptop.tenant-acme\n" in result.stdout


def test_wrong_policy_settings_are_data_errors(invoke: Invoke, data_folder: Path) -> None:
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nrules: {no-such-rule: mandatory}\n")

    result = invoke("audit", "laptop", "--format", "junit")

    assert result.exit_code == ExitCode.BAD_DATA
    assert [(case.name, case.outcome) for case in junit(result.stdout)] == [("policies.unknown-rule", "failed")]
