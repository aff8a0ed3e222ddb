"""``jacquard check --format sarif``: each finding at its line of the repository, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.region.policy import Enforcement
from jacquard.cli.errors import ExitCode
from policies import Judgement, Violation
from policies.facts import Fact
from policies.rules import RULES
from policies.verdict import violation
from tests.support.checks.sarif_log import place, sarif

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


def refused(monkeypatch: pytest.MonkeyPatch, body: dict[str, Any]) -> Violation:
    """Make a policy reject an object with ``body``."""
    fact = Fact(kind="Machine", title="Machine a/b of cluster management", body=body)
    found = Violation(
        rule=RULES[0],
        fact=fact,
        finding=violation(found="f", allowed="a", fix="x"),
        level=Enforcement.MANDATORY,
        environment="laptop",
    )
    monkeypatch.setattr("jacquard.cli.verbs.check.judge", lambda *_, **__: Judgement(refused=(found,)))
    return found


def test_sarif_puts_each_problem_at_its_line_of_the_repository(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(file, "vpc: acme", "vpc: acmee")
    line = file.read_text().splitlines().index("    vpc: acmee") + 1

    result = invoke("check", "laptop", "--format", "sarif")

    assert result.exit_code == ExitCode.BAD_DATA
    [found] = sarif(result)
    assert found["ruleId"] == "references.cluster-references"
    assert place(found) == ("environments/laptop/tenants/acme.yaml", line)
    assert found["message"]["text"].startswith("clusters[0].vpc: 'acmee' is not declared in vpcs of this file")


def test_sarif_reports_problems_shared_by_environments_once(invoke: Invoke, two: Path, edit: Edit) -> None:
    edit(two / "catalog" / "images.yaml", "channel: [", "channels: [")

    result = invoke("check", "--format", "sarif")

    assert result.exit_code == ExitCode.BAD_DATA
    found = sarif(result)
    assert {place(item)[0] for item in found} == {"environments/catalog/images.yaml"}
    assert len({json.dumps(item) for item in found}) == len(found)


def test_a_problem_of_a_whole_file_is_at_its_first_line(invoke: Invoke, data_folder: Path) -> None:
    (data_folder / "laptop" / "region.yml").write_text("x: 1\n")

    [found] = sarif(invoke("check", "laptop", "--format", "sarif"))

    assert place(found) == ("environments/laptop/region.yml", 1)


def test_the_fingerprint_is_stable_when_only_lines_move(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(file, "vpc: acme", "vpc: acmee")
    [before] = sarif(invoke("check", "laptop", "--format", "sarif"))
    edit(file, "clusters:", "# a comment\nclusters:")
    [after] = sarif(invoke("check", "laptop", "--format", "sarif"))

    assert place(after)[1] == place(before)[1] + 1
    assert after["partialFingerprints"] == before["partialFingerprints"]


def test_a_violation_is_at_the_cluster_it_is_for(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = refused(monkeypatch, {"metadata": {"namespace": "acme-train", "name": "x"}})
    lines = (data_folder / "laptop" / "tenants" / "acme.yaml").read_text().splitlines()

    result = invoke("check", "laptop", "--format", "sarif")

    assert result.exit_code == ExitCode.REFUSED
    [found] = sarif(result)
    assert found["ruleId"] == RULES[0].name
    assert found["message"]["text"] == str(text)
    assert place(found) == ("environments/laptop/tenants/acme.yaml", lines.index("  - name: acme-train") + 1)


def test_a_violation_of_no_cluster_is_at_the_region(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(monkeypatch, {"metadata": {"name": "x"}})

    [found] = sarif(invoke("check", "laptop", "--format", "sarif"))

    assert place(found) == ("environments/laptop/region.yaml", 1)


def test_sarif_has_all_that_code_scanning_requires(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    """The properties that GitHub lists as required, and its limits on them."""
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channels: stable")

    log = json.loads(invoke("check", "laptop", "--format", "sarif").stdout)

    assert (log["$schema"], log["version"]) == ("https://json.schemastore.org/sarif-2.1.0.json", "2.1.0")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("jacquard", "0.1.0")
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    for rule in driver["rules"]:
        texts = [rule[key]["text"] for key in ("shortDescription", "fullDescription", "help")]
        assert all(0 < len(text) <= 1024 for text in texts), rule
        assert rule["defaultConfiguration"]["level"] == "error"
    assert run["results"]
    for found in run["results"]:
        uri, line = place(found)
        assert found["ruleId"] in rules
        assert found["message"]["text"]
        assert found["partialFingerprints"]["primaryLocationLineHash"]
        assert line >= 1
        assert uri.startswith("environments/")
        assert ".." not in uri.split("/")


def test_a_valid_region_is_a_log_of_waived_results_only(invoke: Invoke) -> None:
    result = invoke("check", "laptop", "--format", "sarif", "--today", "2026-11-21")

    assert result.exit_code == ExitCode.OK
    assert [item["ruleId"] for item in sarif(result) if not item.get("suppressions")] == []
