"""Violations of new rules: warnings in every format that change no exit code, and errors from the declared day."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import jacquard
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from tests.support.checks.result_formats import annotations, junit, quality, valid_sarif
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
RULE = "reserved-keys.kubernetes"
LAST_WARNING, FIRST_ERROR = "2027-02-28", "2027-03-01"
TEXT = (
    "clusters[0].pools[1].annotations.node.alpha.kubernetes.io/ttl: 'node.alpha.kubernetes.io/ttl' is in a domain that"
    " Kubernetes reserves; write a key in a domain of the tenant, or add a waiver for acme-train/train to waivers.yaml"
)
FORMATS = ("text", "json", "github", "gitlab", "sarif", "junit")


@pytest.fixture
def reserved(data_folder: Path, edit: Edit) -> Path:
    """A tenant with a key in a domain of Kubernetes, which release 0.1.0 accepted."""
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    labels = "labels: {workload: training}"
    edit(file, labels, f"{labels}\n        annotations: {{node.alpha.kubernetes.io/ttl: '0'}}")
    return file


def line_of(file: Path) -> int:
    return next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "annotations: {node" in text)


def test_a_violation_is_a_warning_in_each_format_until_its_day(invoke: Invoke, reserved: Path) -> None:
    line, file = line_of(reserved), "environments/laptop/tenants/acme.yaml"
    dated = f"{TEXT}; an error from {FIRST_ERROR}"

    outputs = {form: invoke("check", "laptop", "--today", LAST_WARNING, "--format", form) for form in FORMATS}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.OK}
    assert "policies, 1 warning, 1 waived," in outputs["text"].stdout
    assert (
        f"  warning (an error from {FIRST_ERROR}): {RULE}: tenants/acme.yaml:{line} {TEXT}\n" in outputs["text"].stdout
    )
    [answer] = json.loads(outputs["json"].stdout)
    assert (answer["ok"], answer["problems"]) == (True, [])
    [warning] = answer["warnings"]
    assert (warning["rule"], warning["line"], warning["binding"]) == (RULE, line, FIRST_ERROR)
    [result] = [item for item in answer["results"] if item["rule"] == RULE]
    assert (result["level"], result["blocks"], result["binding"]) == ("advisory", False, FIRST_ERROR)
    [noted] = [item for item in annotations(outputs["github"].stdout) if item.title == RULE]
    assert (noted.level, noted.file, noted.line, noted.message) == ("warning", file, line, dated)
    [issue] = [item for item in quality(outputs["gitlab"].stdout) if item["check_name"] == RULE]
    assert (issue["severity"], issue["description"]) == ("minor", dated)
    [logged] = [item for item in valid_sarif(outputs["sarif"].stdout) if item["ruleId"] == RULE]
    assert (logged["level"], logged["message"]["text"]) == ("warning", dated)
    [case] = [item for item in junit(outputs["junit"].stdout) if item.name == RULE]
    assert (case.outcome, case.output) == ("passed", f"advice: {file}:{line}: {dated}")


@pytest.mark.parametrize("arguments", [("--today", FIRST_ERROR), ("--today", LAST_WARNING, "--strict")])
def test_a_violation_is_an_error_from_its_day_and_with_strict(
    invoke: Invoke, reserved: Path, arguments: tuple[str, ...]
) -> None:
    result = invoke("check", "laptop", *arguments)

    assert result.exit_code == ExitCode.BAD_DATA
    assert f"  tenants/acme.yaml:{line_of(reserved)}  {TEXT}\n" in result.stderr
    assert "warning" not in result.output


def test_a_warning_is_printed_in_addition_to_an_error(invoke: Invoke, reserved: Path, edit: Edit) -> None:
    edit(reserved, "vpc: acme", "vpc: acmee")

    result = invoke("check", "laptop", "--today", LAST_WARNING)

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith("environments/laptop: 1 problem\n")
    assert f"  warning (an error from {FIRST_ERROR}): {RULE}: tenants/acme.yaml:" in result.stderr


def test_the_warnings_of_all_environments_are_counted(invoke: Invoke, two: Path, edit: Edit) -> None:
    edit(two / "laptop/tenants/acme.yaml", "key: workload, value: training", "key: jobs.k8s.io/a, value: training")

    result = invoke("check", "desk", "laptop", "--today", LAST_WARNING)

    assert ", 1 warning, " in result.stdout.splitlines()[-1]


def test_other_commands_report_errors_only(
    invoke: Invoke, reserved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del reserved
    allocate = ("allocate", "laptop", "--check")
    promote = ("promote", "laptop", "acme-train/train", "--plan")
    render = ("render", "laptop", "--out", str(tmp_path / "objects"))

    monkeypatch.setenv("JACQUARD_NOW", f"{LAST_WARNING}T12:00:00Z")
    warned = [invoke(*command) for command in (allocate, promote, render)]
    monkeypatch.setenv("JACQUARD_NOW", f"{FIRST_ERROR}T12:00:00Z")
    refused = [invoke(*command) for command in (allocate, promote, render)]

    assert [result.exit_code for result in warned] == [ExitCode.OK] * 3, [result.output for result in warned]
    assert [result.exit_code for result in refused] == [ExitCode.BAD_DATA] * 3
    assert all(TEXT in result.stderr for result in refused)


def test_the_comment_of_a_pull_request_lists_warnings_apart(
    invoke: Invoke, data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_NOW", f"{LAST_WARNING}T12:00:00Z")
    committed(data_folder)
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    labels = "labels: {workload: training}"
    edit(file, labels, f"{labels}\n        annotations: {{node.alpha.kubernetes.io/ttl: '0'}}")

    result = invoke("impact", "laptop", "--base", "HEAD", "--format", "markdown")

    assert result.exit_code == ExitCode.OK, result.output
    assert "laptop: warnings of new rules" in result.stdout
    assert "1 warning of new rules:" in result.stdout
    assert f"(`{RULE}`, an error from `{FIRST_ERROR}`)" in result.stdout


def test_the_public_function_reports_errors_of_a_day(reserved: Path) -> None:
    environment = load_environment("laptop", reserved.parents[2])
    last, first = map(dt.date.fromisoformat, (LAST_WARNING, FIRST_ERROR))

    assert jacquard.check(environment, today=last) == []
    assert [problem.rule for problem in jacquard.check(environment, today=first)] == [RULE]


def test_explain_shows_the_period(invoke: Invoke) -> None:
    of_rule, of_policy = invoke("explain", RULE), invoke("explain", "unmatched-monitor")
    as_data = invoke("explain", RULE, "--format", "json")

    line = f"  advisory until {FIRST_ERROR}, new in 0.2.0: violations are warnings until then\n"
    assert line in of_rule.stdout
    assert line in of_policy.stdout
    [entry] = json.loads(as_data.stdout)
    assert entry["advisory"] == f"advisory until {FIRST_ERROR}, new in 0.2.0"
