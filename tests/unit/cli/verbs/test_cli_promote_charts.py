"""``jacquard promote ENV charts/CHART``: planned, by wave with evidence from ``status``, and rolled back."""

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
from tests.support.changes.chart_rollouts import (
    ACME,
    EVAL,
    GLOBEX,
    NEW,
    OLD,
    PROMOTED,
    with_newer_release,
    with_third_cluster,
    with_waves,
)
from tests.support.data.workbench import Workbench
from tests.support.objects.settled_region import settled_region

Invoke = Callable[..., Result]
CHARTS = ("promote", "laptop", PROMOTED)
AGENTS = "its CNI agents restart on the nodes, and nodes are not replaced"


@pytest.fixture
def three(data_folder: Path) -> Path:
    """Return data with three clusters that use a chart with a newer release."""
    bench = Workbench(data_folder)
    with_third_cluster(bench)
    with_newer_release(bench)
    with_waves(bench)
    return data_folder


def lock(data_folder: Path) -> str:
    return (data_folder / "laptop" / "images.lock.yaml").read_text()


def evidence(data_folder: Path, hour: int = 9) -> Path:
    """Return the file that ``status --format json`` would write at ``hour``, with all charts as pinned since 8."""
    spec = load_environment("laptop", data_folder)
    seen = replace(settled_region(spec), at=datetime(2026, 11, 21, hour, tzinfo=UTC))
    file = data_folder.parent / "evidence.json"
    file.write_text(json.dumps(asdict(assemble(spec, seen))))
    return file


def test_the_plan_lists_clusters_by_wave_and_restarts(invoke: Invoke, three: Path) -> None:
    before = lock(three)

    text = " ".join(invoke(*CHARTS, "--plan").output.split())
    data = json.loads(invoke(*CHARTS, "--plan", "--format", "json").stdout)

    assert f"version {OLD} -> {NEW}" in text
    assert text.endswith(f"{PROMOTED}: 3 clusters to {NEW} in 2 waves, in waves only")
    assert [[(group["key"], group["nodes"]) for group in wave["groups"]] for wave in data["waves"]] == [
        [(EVAL, 2), (GLOBEX, 4)],
        [(ACME, 16)],
    ]
    assert {group["replacement"] for wave in data["waves"] for group in wave["groups"]} == {AGENTS}
    assert lock(three) == before


def test_a_chart_is_promoted_by_wave_with_evidence_of_status_and_rolled_back(invoke: Invoke, three: Path) -> None:
    at_once = invoke(*CHARTS)
    first = invoke(*CHARTS, "--wave", "1")
    unproven = invoke(*CHARTS, "--wave", "2")
    early = invoke(*CHARTS, "--wave", "2", "--evidence", str(evidence(three, 8)))
    second = invoke(*CHARTS, "--wave", "2", "--evidence", str(evidence(three)))
    arrived = invoke("check", "laptop", "--today", "2026-11-21")
    back = json.loads(invoke(*CHARTS, "--rollback", "--format", "json").stdout)

    assert (at_once.exit_code, "promote it in 2 waves" in at_once.stderr) == (2, True)
    following = "next: jacquard preview laptop\n"
    assert first.output.endswith(f"{PROMOTED}: 2 clusters promoted to {NEW}, 1 remaining; {following}")
    assert f"globex-lab: cilium changes from {OLD} to {NEW}: {AGENTS}" in " ".join(first.output.split())
    assert "there is no evidence that wave 1 is settled" in unproven.stderr
    assert f"{EVAL} was settled for 0 of 60 minutes" in early.stderr
    assert second.output.endswith(f"{PROMOTED}: 1 cluster promoted to {NEW}; {following}")
    assert arrived.exit_code == 0
    assert (back["groups"], back["version"], back["open"]) == ([ACME, EVAL, GLOBEX], OLD, False)
    assert invoke("check", "laptop", "--today", "2026-11-21").exit_code == 0


@pytest.mark.usefixtures("three")
def test_upgrades_show_the_release_and_its_progress(invoke: Invoke) -> None:
    invoke(*CHARTS, "--wave", "1")

    text = " ".join(invoke("show", "laptop", "upgrades").output.split())
    data = json.loads(invoke("show", "laptop", "upgrades", "--format", "json").stdout)

    assert f"jacquard promote laptop {PROMOTED} --to {NEW} --plan" in text
    assert data["charts"] == [
        {
            "chart": "cilium",
            "clusters": {"acme-train": OLD, "globex-lab": NEW, "globex-eval": NEW},
            "next": NEW,
            "wave": 1,
            "do": f"jacquard promote laptop {PROMOTED} --to {NEW} --plan",
        }
    ]
