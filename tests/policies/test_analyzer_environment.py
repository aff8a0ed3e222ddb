"""Levels, waivers and freezes of an environment in the policy pack."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.pack.analyzer import Analyzer
from tests.support.engine.policy_pack import ADVISORY, MANDATORY, NOW, TEMPLATE, configure, found, request, template


def test_levels_of_the_environment_hold(data: Path) -> None:
    (data / "policy.yaml").write_text(
        "schema_version: 1\nrules: {unpinned-image: advisory, unsigned-image: mandatory}\n"
    )

    assert found(Analyzer(NOW).Analyze(request(TEMPLATE, template("0" * 64)), None)) == [
        ("unpinned-image", ADVISORY),
        ("image-outside-channel", MANDATORY),
        ("template-edited-in-place", MANDATORY),
    ]


@pytest.mark.parametrize(
    ("expires", "level", "text"),
    [
        ("2026-11-22", ADVISORY, "a vendor's test (ops, OPS-7, until 2026-11-22)"),
        (
            "2026-11-21",
            MANDATORY,
            (
                "void since 2026-11-21; fix the violation and remove the waiver from environments/laptop/waivers.yaml, "
                "or agree on a new date with ops (OPS-7)"
            ),
        ),
    ],
)
def test_a_waiver_applies_until_the_day_it_expires(expires: str, level: int, text: str, data: Path) -> None:
    (data / "waivers.yaml").write_text(
        "schema_version: 1\nwaivers:\n"
        "  - {rule: provider-without-cluster-identifier, subject: provider kubernetes x, reason: a vendor's test,"
        f" owner: ops, ticket: OPS-7, expires: {expires}}}\n"
    )

    response = Analyzer(NOW).Analyze(request("pulumi:providers:kubernetes", {}), None)

    assert found(response) == [("provider-without-cluster-identifier", level)]
    assert response.diagnostics[0].message.splitlines()[-1] == f"  waiver:  {text}"


FREEZE = """schema_version: 1
freezes:
  - {name: run-7, from: 2026-11-20T00:00:00Z, to: 2026-12-01T00:00:00Z, reason: a training run, tenants: [acme]}
"""


def test_a_freeze_blocks_the_first_resource_of_an_apply(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE)
    analyzer = Analyzer(NOW)
    configure(analyzer, dry_run=False)

    for sent in (request("pulumi:pulumi:Stack", {}), request("command:local:Command", {"create": "true"})):
        assert found(analyzer.Analyze(sent, None)) == [("change-in-freeze", MANDATORY)]


def test_a_freeze_is_reported_once_in_a_preview(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE)
    analyzer = Analyzer(NOW)
    configure(analyzer, dry_run=True)

    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}), None)) == [("change-in-freeze", ADVISORY)]
    assert found(analyzer.Analyze(request("command:local:Command", {}), None)) == []


def test_a_freeze_without_tenants_does_not_block_the_clusters_of_a_local_region(data: Path) -> None:
    (data / "policy.yaml").write_text(FREEZE.replace(", tenants: [acme]", ""))
    analyzer = Analyzer(NOW)

    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}), None)) == [("change-in-freeze", MANDATORY)] * 3
    assert found(analyzer.Analyze(request("pulumi:pulumi:Stack", {}, "laptop.bootstrap"), None)) == []


@pytest.mark.parametrize("file", ["policy.yaml", "waivers.yaml"])
def test_unreadable_settings_block_everything(file: str, data: Path) -> None:
    (data / file).write_text("schema_version: 1\nrule: {}\n")

    response = Analyzer(NOW).Analyze(request("command:local:Command", {}), None)

    assert found(response) == [("change-in-freeze", MANDATORY)]
    assert "belongs to no readable environment" in response.diagnostics[0].message
