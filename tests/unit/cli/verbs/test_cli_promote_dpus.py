"""``jacquard promote ENV dpus``: planned, by wave with evidence from ``status``, and rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from components.specs.struct import asdict, replace
from jacquard.observe.region_status import assemble
from tests.support.objects.settled_region import settled_region

Invoke = Callable[..., Result]
DPUS = ("promote", "laptop", "dpus")
OLD = "bfb-3.2.0@09e0aa7d5822e15f"
HOW = "DPUs flashed and hosts rebooted as each maintenance hold is released"


def lock(data_folder: Path) -> str:
    return (data_folder / "laptop" / "images.lock.yaml").read_text()


@pytest.fixture
def outdated(data_folder: Path, edit: Callable[[Path, str, str], None]) -> Path:
    """Return data that differ from the pins of the DPUs."""
    edit(data_folder / "catalog" / "instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32")
    return data_folder


def evidence(data_folder: Path) -> Path:
    """Return the file that ``status --format json`` would write when all DPUs match their pins."""
    spec = load_environment("laptop", data_folder)
    seen = replace(settled_region(spec), at=datetime(2026, 11, 21, 9, tzinfo=UTC))
    file = data_folder.parent / "evidence.json"
    file.write_text(json.dumps(asdict(assemble(spec, seen))))
    return file


def test_the_plan_lists_changes_and_dpus_by_wave(invoke: Invoke, outdated: Path) -> None:
    before = lock(outdated)

    text = invoke(*DPUS, "--plan")
    data = json.loads(invoke(*DPUS, "--plan", "--format", "json").stdout)

    functions = {"field": "virtual_functions", "before": "16", "after": "32"}
    assert [line.rstrip() for line in text.output.splitlines()] == [
        f"{OLD} -> {data['intent']}",
        "  virtual_functions 16 -> 32",
        "wave  rollout group  nodes  spares  replaced",
        f"   1  unassigned         3       0  {HOW}",
        f"   2  globex             7       0  {HOW}",
        f"   3  acme              20       0  {HOW}",
        "dpus: 30 DPUs to bfb-3.2.0 in 3 waves, or all together with --all",
    ]
    waves = ((1, "unassigned", 3), (2, "globex", 7), (3, "acme", 20))
    assert data == {
        "pool": "dpus",
        "version": "bfb-3.2.0",
        "intent": data["intent"],
        "needs_waves": False,
        "changes": {OLD: [functions]},
        "templates": [],
        "waves": [
            {"number": number, "groups": [{"key": f"dpus/{name}", "nodes": count, "spares": 0, "replacement": HOW}]}
            for number, name, count in waves
        ],
    }
    assert lock(outdated) == before


def test_dpus_that_match_the_data_are_kept(invoke: Invoke, data_folder: Path) -> None:
    before = lock(data_folder)

    results = [invoke(*DPUS, *more) for more in ((), ("--plan",), ("--wave", "1"))]

    nothing = "dpus: every rollout group is already pinned to bfb-3.2.0 and the current data, nothing to change\n"
    assert [(result.exit_code, result.output) for result in results] == [(0, nothing)] * 3
    assert lock(data_folder) == before


def test_dpus_move_wave_by_wave_with_the_evidence_of_status(invoke: Invoke, outdated: Path) -> None:
    first = invoke(*DPUS, "--wave", "1")
    unproven = invoke(*DPUS, "--wave", "2")
    second = invoke(*DPUS, "--wave", "2", "--evidence", str(evidence(outdated)))
    third = invoke(*DPUS, "--wave", "3", "--evidence", str(evidence(outdated)))

    ends = [
        f"dpus: 1 rollout group promoted to bfb-3.2.0{rest}; next: jacquard preview laptop\n"
        for rest in (", 2 remaining", ", 1 remaining", "")
    ]
    assert [one.output.endswith(end) for one, end in zip((first, second, third), ends, strict=True)] == [True] * 3
    assert (unproven.exit_code, "there is no evidence that wave 1 is settled" in unproven.stderr) == (2, True)
    assert "rollouts:" not in lock(outdated)
    assert invoke("check", "laptop", "--today", "2026-11-21").exit_code == 0


def test_evidence_of_before_the_dpus_were_flashed_is_refused(invoke: Invoke, outdated: Path) -> None:
    file = evidence(outdated)
    invoke(*DPUS, "--wave", "1")

    result = invoke(*DPUS, "--wave", "2", "--evidence", str(file))

    assert result.exit_code == 2
    assert "dpus/unassigned has 0 of 3 DPUs with flavor zero-trust-" in result.stderr


def test_all_dpus_are_promoted_and_rolled_back_immediately(invoke: Invoke, outdated: Path) -> None:
    before = lock(outdated)

    there = json.loads(invoke(*DPUS, "--all", "--format", "json").stdout)
    back = json.loads(invoke(*DPUS, "--rollback", "--format", "json").stdout)

    groups = ["dpus/acme", "dpus/globex", "dpus/unassigned"]
    assert [(one["pool"], one["groups"], one["open"]) for one in (there, back)] == [("dpus", groups, False)] * 2
    assert (there["intent"] != OLD, back["intent"]) == (True, OLD)
    assert lock(outdated) == before


def test_a_data_store_is_not_for_dpus(invoke: Invoke) -> None:
    result = invoke(*DPUS, "--data-store", "shared-a")

    assert (result.exit_code, result.stderr) == (
        2,
        "error: --data-store is only for control planes, such as acme-train (got dpus); write --to VERSION\n",
    )
