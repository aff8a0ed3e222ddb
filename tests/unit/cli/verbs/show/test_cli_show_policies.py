"""``jacquard show ENV policies``: levels and their origin, limits, evaluated objects, violations and waivers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from policies.rules import RULES

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
DAY = ("--today", "2026-11-21")
WAIVERS = """
  - {rule: image-outside-channel, subject: acme-train/train, reason: a test, owner: ops, ticket: OPS-1,
     expires: 2026-12-01}
  - {rule: image-outside-channel, subject: acme-train/none, reason: a test, owner: ops, second_owner: dev,
     ticket: OPS-2, expires: 2026-12-15}
  - {rule: image-outside-channel, subject: acme-train/infer, reason: a test, owner: ops, ticket: OPS-3,
     expires: 2026-11-01}
  - {rule: uniformity, subject: acme-train/train, reason: a test, owner: ops, ticket: OPS-4, expires: 2026-12-20}
"""
POLICY = """schema_version: 1
rules: {image-outside-channel: advisory, deprecated-image: mandatory}
registries: [registry.cloud.example]
freezes:
  - {name: year-end, from: 2026-12-20T00:00:00Z, to: 2027-01-02T00:00:00Z, reason: holidays}
"""


@pytest.fixture
def folder(data_folder: Path, edit: Edit) -> Path:
    """Laptop on a channel without the images of its pools, with settings and waivers of policies."""
    folder = data_folder / "laptop"
    edit(folder / "region.yaml", "image_channel: stable", "image_channel: candidate")
    waivers = folder / "waivers.yaml"
    waivers.write_text(waivers.read_text().rstrip("\n") + WAIVERS)
    (folder / "policy.yaml").write_text(POLICY)
    return folder


def answer(invoke: Invoke) -> dict[str, Any]:
    result = invoke("show", "laptop", "policies", *DAY, "--format", "json")
    assert result.exit_code == ExitCode.OK, result.output
    return dict(json.loads(result.stdout))


@pytest.mark.usefixtures("folder")
def test_each_policy_has_its_level_with_the_origin_its_limits_and_counts(invoke: Invoke) -> None:
    report = answer(invoke)

    schema = json.loads((paths.ROOT / "schemas" / "policies.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, schema)
    assert [row["name"] for row in report["policies"]] == [rule.name for rule in RULES]
    rows = {row["name"]: row for row in report["policies"]}
    channel = rows["image-outside-channel"]
    assert (channel["level"], channel["level_source"], channel["limits"]) == (
        "advisory",
        "policy.yaml",
        "channel candidate",
    )
    assert channel["objects"] >= channel["advised"] + channel["waived"] > channel["waived"]
    assert (channel["refused"], channel["waived"]) == (0, 2)
    assert (rows["deprecated-image"]["level"], rows["unsigned-image"]["level"]) == ("mandatory", None)
    assert rows["unlisted-registry"]["limits"] == "registry.cloud.example"
    assert rows["change-in-freeze"]["limits"] == "freezes: year-end until 2027-01-02"
    assert rows["unlimited-waiver"]["objects"] == len(report["waivers"])
    assert rows["duplicate-object"]["objects"] > max(row["objects"] for row in report["policies"][:10])


@pytest.mark.usefixtures("folder")
def test_each_waiver_has_its_state_and_the_days_left(invoke: Invoke) -> None:
    waivers = {row["subject"]: row for row in answer(invoke)["waivers"] if row["rule"] == "image-outside-channel"}

    states = {name: (row["state"], row["violations"], row["days_left"]) for name, row in waivers.items()}
    assert states == {
        "acme-train/train": ("used", 2, 10),
        "acme-train/none": ("unused", 0, 24),
        "acme-train/infer": ("expired", 0, -20),
    }
    states = {row["rule"]: row["state"] for row in answer(invoke)["waivers"] if row["rule"] != "image-outside-channel"}
    assert states == {"networks.unfiltered-hosts": "used", "uniformity": "undetermined"}


def test_the_line_of_a_waiver_is_that_of_its_entry(invoke: Invoke, folder: Path) -> None:
    lines = (folder / "waivers.yaml").read_text().splitlines()

    for row in answer(invoke)["waivers"]:
        assert row["rule"] in lines[row["line"] - 1]


@pytest.mark.usefixtures("folder")
def test_the_text_has_a_table_of_policies_and_one_of_waivers(invoke: Invoke) -> None:
    lines = invoke("show", "laptop", "policies", *DAY).stdout.splitlines()

    assert lines[0].split() == ["policy", "severity", "level", "set", "by", "objects", "violations", "limits"]
    rows = [line.split() for line in lines]
    assert next(row for row in rows if row[:1] == ["image-outside-channel"])[:4] == [
        "image-outside-channel",
        "critical",
        "advisory",
        "policy.yaml",
    ]
    assert next(row for row in rows if "acme-train/none" in row)[2:8] == [
        "unused",
        *["0", "24", "2026-12-15", "ops,", "dev"],
    ]
    assert lines[-1] == f"laptop (rehearsal): {len(RULES)} policies, 5 waivers, 1 unused, 1 expired"


@pytest.mark.parametrize(("name", "firm"), [("eu-south-03a", True), ("lab", False)])
def test_critical_policies_are_firm_in_production_only(
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    firm: bool,  # noqa: FBT001 - a table
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))

    report = json.loads(invoke("show", name, "policies", "--format", "json").stdout)

    critical = {row["name"] for row in report["policies"] if row["severity"] == "critical"}
    assert critical
    sources = {row["name"]: row["level_source"] for row in report["policies"]}
    assert {name for name, source in sources.items() if source == "critical"} == (critical if firm else set())


@pytest.mark.parametrize(
    ("day", "level", "source"),
    [("2027-02-28", "advisory", "new policy"), ("2027-03-01", "mandatory", "stage")],
)
def test_a_new_policy_is_shown_with_its_level_of_the_day(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, day: str, level: str, source: str
) -> None:
    monkeypatch.setenv("JACQUARD_NOW", f"{day}T12:00:00Z")

    report = json.loads(invoke("show", "laptop", "policies", "--format", "json").stdout)

    [row] = [row for row in report["policies"] if row["name"] == "unmatched-monitor"]
    assert (row["level"], row["level_source"]) == (level, source)


def test_wrong_data_have_no_report(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "vpc: acme", "vpc: acmee")

    assert invoke("show", "laptop", "policies").exit_code == ExitCode.BAD_DATA
