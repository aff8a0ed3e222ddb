"""``jacquard audit --history``: past changes, evaluated by the current rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
POLICY = "schema_version: 1\nregistries: [registry.elsewhere.example]\n"


def commit(data_folder: Path, message: str) -> str:
    git(data_folder.parent, "add", "environments")
    git(data_folder.parent, *COMMIT[:-1], message)
    return git(data_folder.parent, "rev-parse", "--short=9", "HEAD")


def test_history_names_each_change_that_a_rule_would_have_stopped(
    data_folder: Path, invoke: Invoke, edit: Edit
) -> None:
    committed(data_folder)
    tenant, policy = data_folder / "laptop" / "tenants" / "acme.yaml", data_folder / "laptop" / "policy.yaml"
    edit(tenant, "vpc: acme", "vpc: acmee")
    first = commit(data_folder, "misspell a VPC")
    edit(tenant, "# ", "# note: ")
    commit(data_folder, "edit a comment, which changes nothing")
    edit(tenant, "vpc: acmee", "vpc: acme")
    commit(data_folder, "correct the VPC")
    policy.write_text(POLICY)
    last = commit(data_folder, "allow another registry only")

    result = invoke("audit", "laptop", "--history", "HEAD~4..HEAD")
    answer = json.loads(invoke("audit", "laptop", "--history", "HEAD~4..HEAD", "--format", "json").stdout)

    assert result.exit_code == ExitCode.OK, result.output
    heads = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
    assert [line.split()[0] for line in heads] == [first, last, "laptop:"]
    assert heads[-1] == "laptop: 4 changes, 2 would have been stopped"
    assert "  references.cluster-references: tenants/acme.yaml:" in result.stdout
    assert "  unlisted-registry: " in result.stdout
    rules = [{item["rule"] for item in change["stopped"]} for change in answer["changes"]]
    assert rules == [{"references.cluster-references"}, set(), set(), {"unlisted-registry"}]


def test_history_reports_commits_that_this_version_cannot_read(data_folder: Path, invoke: Invoke, edit: Edit) -> None:
    region = data_folder / "laptop" / "region.yaml"
    edit(region, "stage:", "former_key: x\nstage:")
    committed(data_folder)
    edit(region, "former_key: x", "former_key: y")
    commit(data_folder, "edit data of an earlier format")
    edit(region, "former_key: y\n", "")
    commit(data_folder, "write the current format")

    result = invoke("audit", "laptop", "--history", "HEAD~2..")

    assert result.exit_code == ExitCode.OK
    assert "\n  not judged: this version cannot read the data: region.yaml:" in result.stdout
    assert result.stdout.endswith("laptop: 2 changes, 0 would have been stopped, 1 not judged\n")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--live",), "--live: has no meaning with --history, which judges data only; omit one of them"),
        (
            ("--format", "sarif"),
            "--format sarif: --history has only text and json, because lines of past commits differ; write json",
        ),
        ((), "--history: git could not find the repository of the environments: "),
    ],
)
def test_history_rejects_incompatible_options(invoke: Invoke, options: tuple[str, ...], text: str) -> None:
    result = invoke("audit", "laptop", "--history", "a..b", *options)

    assert result.exit_code == ExitCode.BAD_DATA
    assert text in result.stderr
