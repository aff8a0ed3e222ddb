"""``jacquard check --base``: violations of the base are tolerated unless they are critical."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.machine import settings
from tests.support.checks.result_formats import annotations, valid_sarif
from tests.support.checks.waived import VERSION_WAIVER
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
LATER = ("--today", "2030-01-01")
"""Day on which the images of laptop are deprecated, and its waiver has expired."""
SINCE = ("--base", "HEAD")
FEWER = ("nodes: 14", "nodes: 13")
"""Edit of a contract that then lacks one node."""


@pytest.fixture
def tenant(data_folder: Path) -> Path:
    """A file of a committed region with violations of a policy and of a cross-check."""
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nrules: {deprecated-image: mandatory}\n")
    committed(data_folder)
    return data_folder / "laptop" / "tenants" / "acme.yaml"


@pytest.mark.usefixtures("tenant")
def test_violations_of_the_base_do_not_block(invoke: Invoke) -> None:
    strict, tolerant = invoke("check", "laptop", *LATER), invoke("check", "laptop", *LATER, *SINCE)

    assert (strict.exit_code, tolerant.exit_code) == (ExitCode.BAD_DATA, ExitCode.OK), tolerant.output
    first, *lines = tolerant.stdout.splitlines()
    existing = [line for line in lines if line.startswith("  existing: ")]
    assert {line.split(": ")[1] for line in existing} == {"networks.unfiltered-hosts", "deprecated-image"}
    assert first.startswith("laptop: ok, ")
    assert f", {len(existing)} existing, " in first


def test_only_a_new_violation_blocks_and_is_reported(invoke: Invoke, tenant: Path, edit: Edit) -> None:
    edit(tenant, *FEWER)

    result = invoke("check", "laptop", *LATER, *SINCE)
    [answer] = json.loads(invoke("check", "laptop", *LATER, *SINCE, "--format", "json").stdout)

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith("environments/laptop: 1 problem\n  tenants/acme.yaml:")
    assert "reported by contracts.contracted-nodes" in result.stderr
    assert [item["rule"] for item in answer["problems"]] == ["contracts.contracted-nodes"]
    assert {item["rule"] for item in answer["existing"]} == {"networks.unfiltered-hosts", "deprecated-image"}
    assert answer["violations"] == []


def test_formats_have_the_state_of_each_result(invoke: Invoke, tenant: Path, edit: Edit) -> None:
    edit(tenant, *FEWER)

    log, notes = (invoke("check", "laptop", *LATER, *SINCE, "--format", form) for form in ("sarif", "github"))

    states = {item["ruleId"]: (item["baselineState"], item["level"]) for item in valid_sarif(log.stdout)}
    assert states["contracts.contracted-nodes"] == ("new", "error")
    assert states["deprecated-image"] == ("unchanged", "warning")
    assert [item.title for item in annotations(notes.stdout) if item.level == "error"] == ["contracts.contracted-nodes"]


def test_an_existing_violation_of_a_critical_policy_blocks(invoke: Invoke, data_folder: Path) -> None:
    policy = data_folder / "laptop" / "policy.yaml"
    policy.write_text("schema_version: 1\nregistries: [registry.elsewhere.example]\n")
    committed(data_folder)

    result = invoke("check", "laptop", "--today", "2026-11-21", *SINCE)

    assert result.exit_code == ExitCode.REFUSED
    assert "unlisted-registry: " in result.stderr


def test_an_existing_problem_that_cannot_be_waived_blocks(invoke: Invoke, tenant: Path, edit: Edit) -> None:
    edit(tenant, "vpc: acme", "vpc: acmee")
    git(tenant.parents[3], "add", "environments")
    git(tenant.parents[3], *COMMIT)

    result = invoke("check", "laptop", *LATER, *SINCE)

    assert result.exit_code == ExitCode.BAD_DATA
    assert "'acmee' is not declared in vpcs of this file" in result.stderr


@pytest.mark.usefixtures("data_folder")
def test_all_violations_of_a_new_environment_are_new(invoke: Invoke, two: Path) -> None:
    (two.parent / ".gitignore").write_text("desk/\n")
    committed(two)

    _, desk = json.loads(invoke("check", "laptop", "desk", *LATER, *SINCE, "--format", "json").stdout)

    assert desk["existing"] == []
    assert {item["rule"] for item in desk["problems"]} >= {"networks.unfiltered-hosts"}


def test_a_base_that_cannot_be_read_or_does_not_exist_is_named(invoke: Invoke, tenant: Path, edit: Edit) -> None:
    region = tenant.parents[1] / "region.yaml"
    edit(region, "stage:", "former_key: x\nstage:")
    git(tenant.parents[3], "add", "environments")
    git(tenant.parents[3], *COMMIT)
    commit = git(tenant.parents[3], "rev-parse", "--short=9", "HEAD")
    edit(region, "former_key: x\n", "")

    unreadable, unknown = invoke("check", "laptop", *SINCE), invoke("check", "laptop", "--base", "nowhere")

    assert (unreadable.exit_code, unknown.exit_code) == (ExitCode.BAD_DATA, ExitCode.BAD_DATA)
    start = f"error: --base: this version cannot read laptop in {commit} (region.yaml:"
    assert unreadable.stderr.startswith(start)
    assert unreadable.stderr.endswith("; pass a later commit\n")
    assert "'nowhere' is not a branch, tag or commit" in unknown.stderr


def test_a_change_that_is_refused_blocks_and_a_waiver_permits_it(
    invoke: Invoke, data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.NOW, "2026-11-21T12:00:00+00:00")
    committed(data_folder)
    edit(data_folder / "catalog" / "versions.yaml", "version: 4.13.4", "version: 4.14.0")

    refused, alone = invoke("check", "laptop", *SINCE), invoke("check", "laptop")
    waivers = data_folder / "laptop" / "waivers.yaml"
    waivers.write_text(waivers.read_text() + VERSION_WAIVER, encoding="utf-8")
    permitted = invoke("check", "laptop", *SINCE)

    assert (refused.exit_code, alone.exit_code, permitted.exit_code) == (ExitCode.BAD_DATA, ExitCode.OK, ExitCode.OK)
    assert "4.14.0 instead of 4.13.4" in refused.stderr
    assert "reported by digests.changed; " in refused.stderr


def test_a_change_that_a_new_rule_refuses_is_a_warning_and_strict_blocks_it(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.NOW, "2026-11-21T12:00:00+00:00")
    committed(data_folder)
    (data_folder / "laptop" / "out_of_service.yaml").write_text(
        "schema_version: 1\nhosts:\n  a04-u06: {state: rma, since: 2026-11-21, reason: fan, ticket: HW-1}\n"
    )

    warned, blocked = invoke("check", "laptop", *SINCE), invoke("check", "laptop", *SINCE, "--strict")

    assert (warned.exit_code, blocked.exit_code) == (ExitCode.OK, ExitCode.BAD_DATA)
    text = "hosts.a04-u06.state: rma does not follow production: "
    assert [line for line in warned.stdout.splitlines() if text in line and "an error from 2027-03-01" in line]
    assert text in blocked.stderr


def test_a_change_of_data_that_cannot_be_applied_is_not_compared(invoke: Invoke, tenant: Path, edit: Edit) -> None:
    edit(tenant, "vpc: acme", "vpc: acmee")
    edit(tenant.parents[2] / "catalog" / "versions.yaml", "version: 4.13.4", "version: 4.14.0")

    result = invoke("check", "laptop", *LATER, *SINCE, "--format", "json")

    [answer] = json.loads(result.stdout)
    rules = {item["rule"] for item in answer["problems"]}
    assert "digests.changed" not in rules
    assert "references.cluster-references" in rules
