"""Results of rules as SARIF, JUnit and annotations, from each command that evaluates rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import Result

from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.results import github
from jacquard.cli.views.results import junit as junit_view
from jacquard.machine import paths
from policies import results as rule_results
from policies.results import Source
from policies.rules import RULES
from tests.support.checks.result_formats import annotations, junit, quality, succeeded, valid_sarif
from tests.support.data.repositories import committed
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
DAY = ("--today", "2026-11-21")
UNFILTERED = "networks.unfiltered-hosts"
"""Rule with a waived violation in laptop."""


@pytest.fixture
def wrong(data_folder: Path, edit: Edit) -> Path:
    """A tenant whose cluster names an unknown VPC."""
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(file, "vpc: acme", "vpc: acmee")
    return file


def schema(name: str) -> dict[str, Any]:
    text = (paths.ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def line_of(file: Path, text: str) -> int:
    return file.read_text().splitlines().index(text) + 1


def test_check_names_a_wrong_value_in_each_format(invoke: Invoke, wrong: Path) -> None:
    line, text = line_of(wrong, "    vpc: acmee"), "clusters[0].vpc: 'acmee' is not declared in vpcs of this file"
    rule, file = "references.cluster-references", "environments/laptop/tenants/acme.yaml"

    forms = ("sarif", "junit", "github", "gitlab", "json")
    outputs = {form: invoke("check", "laptop", "--format", form) for form in forms}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.BAD_DATA}
    [logged] = valid_sarif(outputs["sarif"].stdout)
    assert (logged["ruleId"], logged["properties"]) == (rule, {"source": "data"})
    assert succeeded(outputs["sarif"].stdout)
    [case] = junit(outputs["junit"].stdout)
    assert (case.suite, case.name, case.outcome) == ("laptop", rule, "failed")
    assert case.text.startswith(f"{file}:{line}: {text}")
    [noted] = annotations(outputs["github"].stdout)
    assert (noted.level, noted.file, noted.line, noted.title) == ("error", file, line, rule)
    assert noted.message.startswith(text)
    [issue] = quality(outputs["gitlab"].stdout)
    assert (issue["check_name"], issue["severity"]) == (rule, "critical")
    assert issue["location"] == {"path": file, "lines": {"begin": line}}
    assert issue["description"].startswith(text)
    [found] = json.loads(outputs["json"].stdout)[0]["results"]
    assert (found["rule"], found["file"], found["line"], found["blocks"]) == (rule, "tenants/acme.yaml", line, True)


def test_a_waived_violation_is_information_for_gitlab(invoke: Invoke) -> None:
    result = invoke("check", "laptop", *DAY, "--format", "gitlab")

    assert result.exit_code == ExitCode.OK
    issues = quality(result.stdout)
    assert {issue["severity"] for issue in issues if issue["check_name"] == UNFILTERED} == {"info"}
    assert all(issue["description"].startswith("waived: ") for issue in issues if issue["severity"] == "info")


def test_a_command_that_could_not_judge_is_an_issue_for_gitlab(invoke: Invoke) -> None:
    result = invoke("impact", "laptop", "--base", "nosuchref", "--format", "gitlab")

    assert result.exit_code != ExitCode.OK
    [issue] = quality(result.stdout)
    assert (issue["check_name"], issue["severity"]) == ("jacquard impact", "blocker")
    assert issue["description"].startswith("git could not find the repository of the environments")


def test_a_sound_region_has_a_passed_case_for_each_rule_and_a_skipped_one_for_a_waiver(invoke: Invoke) -> None:
    result = invoke("check", "laptop", *DAY, "--format", "junit")

    assert result.exit_code == ExitCode.OK
    cases = {case.name: case for case in junit(result.stdout)}
    assert {rule.name for rule in RULES} <= cases.keys()
    assert {case.outcome for name, case in cases.items() if name != UNFILTERED} == {"passed"}
    assert cases[UNFILTERED].outcome == "skipped"
    assert cases[UNFILTERED].text.startswith("waived: ")


def test_a_waived_problem_is_a_notice_with_its_waiver(invoke: Invoke) -> None:
    [noted] = annotations(invoke("check", "laptop", *DAY, "--format", "github").stdout)

    assert (noted.level, noted.title) == ("notice", UNFILTERED)
    assert noted.message.startswith("waived: ")


def test_annotations_do_not_replace_the_text_of_check_in_a_log(invoke: Invoke, two: Path, edit: Edit) -> None:
    edit(two / "desk" / "tenants" / "acme.yaml", "vpc: acme", "vpc: acmee")

    text, log = invoke("check", *DAY), invoke("check", *DAY, "--format", "github")

    assert log.exit_code == text.exit_code == ExitCode.BAD_DATA
    without_times = [
        re.sub(r"[0-9.]+ s\b", "", line) for line in (*text.stdout.splitlines(), *text.stderr.splitlines())
    ]
    assert sorted(re.sub(r"[0-9.]+ s\b", "", line) for line in log.stderr.splitlines()) == sorted(without_times)
    assert {item.level for item in annotations(log.stdout)} == {"error", "notice"}


def test_impact_reports_the_effect_of_each_edit_at_its_line(data_folder: Path, invoke: Invoke) -> None:
    committed(data_folder)
    assert invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all").exit_code == ExitCode.OK
    lines = (data_folder / "laptop" / "images.lock.yaml").read_text().splitlines()
    pins = [number for number, text in enumerate(lines, 1) if text.startswith("  acme-train/train/")]

    outputs = {form: invoke("impact", "laptop", "--format", form) for form in ("sarif", "junit", "github", "json")}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.OK}, outputs["sarif"].output
    [answer] = json.loads(outputs["json"].stdout)
    jsonschema.validate(answer, schema("impact"))
    assert [(item["rule"], item["line"], item["source"]) for item in answer["results"]] == [
        ("impact.replaced", line, "change") for line in pins
    ]
    logged = valid_sarif(outputs["sarif"].stdout)
    assert {(item["ruleId"], item["baselineState"], item["level"]) for item in logged} == {
        ("impact.replaced", "new", "warning")
    }
    [case] = junit(outputs["junit"].stdout)
    assert (case.name, case.outcome, case.output.count("advice: ")) == ("impact.replaced", "passed", len(pins))
    noted = annotations(outputs["github"].stdout)
    assert {(item.level, item.file) for item in noted} == {("warning", "environments/laptop/images.lock.yaml")}
    assert [item.line for item in noted] == pins


@pytest.mark.parametrize("form", ["sarif", "junit", "github"])
def test_wrong_data_are_results_of_impact_too(data_folder: Path, invoke: Invoke, edit: Edit, form: str) -> None:
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "vpc: acme", "vpc: acmee")

    result = invoke("impact", "laptop", "--format", form)

    assert result.exit_code == ExitCode.BAD_DATA
    read = {
        "sarif": lambda text: [(item["ruleId"], "error") for item in valid_sarif(text)],
        "junit": lambda text: [(case.name, {"failed": "error"}[case.outcome]) for case in junit(text)],
        "github": lambda text: [(item.title, item.level) for item in annotations(text)],
    }
    assert read[form](result.stdout) == [("references.cluster-references", "error")]
    assert "problem" in result.stderr


@pytest.mark.parametrize("form", ["sarif", "junit", "github"])
def test_a_failed_command_reports_in_its_format(invoke: Invoke, form: str) -> None:
    result = invoke("impact", "laptop", "--base", "nowhere", "--format", form)

    assert result.exit_code == ExitCode.BAD_DATA
    reason = "find the repository of the environments"
    if form == "sarif":
        assert (valid_sarif(result.stdout), succeeded(result.stdout)) == ([], False)
        assert reason in result.stdout
    elif form == "junit":
        [case] = junit(result.stdout)
        assert (case.name, case.outcome) == ("impact", "error")
        assert reason in case.text
    else:
        [noted] = annotations(result.stdout)
        assert (noted.level, noted.title) == ("error", "jacquard impact")
        assert reason in noted.message


def test_preview_of_a_change_reports_the_engine_in_each_format(
    data_folder: Path, invoke: Invoke, pulumi: FakePulumi, edit: Edit
) -> None:
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "{workload: training}", "{workload: training, stage: two}")
    pulumi.answer("preview", events="refused", code=255)
    command = ("preview", "laptop", "--base", "HEAD", "--format")

    outputs = {form: invoke(*command, form) for form in ("sarif", "junit", "github", "json")}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.REFUSED}
    logged = {item["ruleId"]: item for item in valid_sarif(outputs["sarif"].stdout)}
    assert logged["forbidden-word"]["properties"] == {"source": "engine"}
    [answer] = json.loads(outputs["json"].stdout)
    jsonschema.validate(answer, schema("preview"))
    results = {item["rule"]: (item["source"], item["blocks"], item["state"]) for item in answer["results"]}
    assert results["forbidden-word"] == ("engine", True, None)
    assert results["networks.unfiltered-hosts"] == ("data", False, "existing")
    cases = {case.name: case.outcome for case in junit(outputs["junit"].stdout)}
    assert (cases["laptop"], cases["forbidden-word"]) == ("failed", "failed")
    noted = {item.title: item.level for item in annotations(outputs["github"].stdout)}
    assert noted["forbidden-word"] == "error"


@pytest.mark.parametrize("form", ["sarif", "junit", "github"])
def test_preview_and_up_report_violations_of_the_engine(invoke: Invoke, pulumi: FakePulumi, form: str) -> None:
    pulumi.answer("preview", events="refused", code=255)

    result = invoke("preview", "laptop", "--format", form)

    assert result.exit_code == ExitCode.REFUSED
    assert "forbidden-word" in result.stdout
    if form == "sarif":
        assert [item["level"] for item in valid_sarif(result.stdout)] == ["error"]
    if form == "junit":
        assert [case.outcome for case in junit(result.stdout) if case.name == "forbidden-word"] == ["failed"]
        assert {rule.name for rule in RULES} <= {case.name for case in junit(result.stdout)}
    if form == "github":
        assert [item.level for item in annotations(result.stdout)] == ["error"]


@pytest.mark.usefixtures("pulumi")
def test_up_refuses_with_the_results_of_the_policies(
    data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-21T12:00:00Z")
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nregistries: [registry.elsewhere.example]\n")

    log, report = (invoke("up", "laptop", "--format", form) for form in ("sarif", "junit"))

    assert (log.exit_code, report.exit_code) == (ExitCode.REFUSED, ExitCode.REFUSED), log.output
    levels = {item["ruleId"]: item["level"] for item in valid_sarif(log.stdout)}
    assert levels["unlisted-registry"] == "error"
    outcomes = {case.name: case.outcome for case in junit(report.stdout)}
    assert (outcomes["unlisted-registry"], outcomes["unpinned-image"]) == ("failed", "passed")


def test_preview_answers_with_the_advice_of_the_engine(invoke: Invoke, pulumi: FakePulumi, tmp_path: Path) -> None:
    urn = "urn:pulumi:laptop::jacquard::kubernetes:core/v1:ConfigMap::c"
    event = {"policyName": "soft", "enforcementLevel": "advisory", "resourceUrn": urn, "message": "consider this"}
    (tmp_path / "advice.jsonl").write_text(json.dumps({"policyEvent": event}) + "\n")
    (pulumi.folder / "preview.json").write_text(json.dumps({"events": str(tmp_path / "advice.jsonl")}))

    answer = json.loads(invoke("preview", "laptop", "--format", "json").stdout)

    [found] = answer["results"]
    assert (found["rule"], found["subject"], found["text"], found["blocks"]) == (
        "soft",
        "ConfigMap c",
        "consider this",
        False,
    )


HOSTILE = rule_results.Result(
    environment="laptop",
    rule="a:b,c",
    source=Source.DATA,
    subject="",
    text="50% of x\r\n::error::forged",
    level=Enforcement.ADVISORY,
    file="tenants/a,b:c.yaml",
)


def test_no_value_starts_another_command_of_github() -> None:
    [noted] = annotations("\n".join(github.lines([HOSTILE], "check")))

    assert (noted.level, noted.title, noted.file) == ("warning", "a:b,c", "environments/laptop/tenants/a,b:c.yaml")
    assert noted.message == "50% of x\r\n::error::forged"


def test_errors_precede_warnings_because_github_shows_ten() -> None:
    error = replace(HOSTILE, level=Enforcement.MANDATORY, file="z.yaml")

    assert [item.level for item in annotations("\n".join(github.lines([HOSTILE, error], "check")))] == [
        "error",
        "warning",
    ]


def test_a_case_contains_advice_in_addition_to_a_violation() -> None:
    text = junit_view.report([HOSTILE, replace(HOSTILE, level=Enforcement.MANDATORY)], "check", ["laptop"], (), None)

    [case] = junit(text)
    assert (case.outcome, case.output.startswith("advice: environments/laptop/")) == ("failed", True)
