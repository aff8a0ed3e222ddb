"""``--newest-templates`` promotes to newer templates only, as announced by ``show`` and ``impact``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.views.changes.impact_lists import templates
from tests.support.changes.impacts import edited, impact_of
from tests.support.changes.newer_templates import NEXT_DPUS, NEXT_NODES, add_revisions

Invoke = Callable[..., Result]
TODAY = ("--today", "2026-11-21")
LAB = ("promote", "laptop", "globex-lab/lab", *TODAY)


@pytest.fixture(autouse=True)
def next_library(monkeypatch: pytest.MonkeyPatch) -> None:
    add_revisions(monkeypatch)


def lines(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.output.splitlines()]


def test_without_the_option_newer_templates_are_only_a_hint(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    last_lines = [lines(invoke(*LAB, *more))[-1] for more in ((), ("--plan",))]

    hint = f"; template revision {NEXT_NODES} is newer, add --newest-templates to get it"
    assert [line.endswith(f"nothing to change{hint}") for line in last_lines] == [True, True]


def test_the_plan_describes_changes_of_newer_templates(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    shown = lines(invoke(*LAB, "--newest-templates", "--plan"))
    planned = json.loads(invoke(*LAB, "--newest-templates", "--plan", "--format", "json").stdout)

    assert shown[1] == f"  revision {NEXT_NODES - 1} -> {NEXT_NODES}"
    assert f"  revision {NEXT_NODES}: nodes are newer" in shown
    assert planned["templates"][-1] == {"revision": NEXT_NODES, "text": "nodes are newer"}
    assert sum(group["nodes"] for wave in planned["waves"] for group in wave["groups"]) == 4


def test_the_option_promotes_and_the_rollback_restores(invoke: Invoke, data_folder: Path) -> None:
    lock = data_folder / "laptop" / "images.lock.yaml"
    before = lock.read_text()

    promoted = [invoke("promote", "laptop", "dpus", "--newest-templates", "--all", *more) for more in ((), ())]
    moved = lock.read_text()
    invoke("promote", "laptop", "dpus", "--rollback")

    assert [result.exit_code for result in promoted] == [0, 0]
    assert promoted[1].output.endswith("nothing to change\n")
    assert f"revision: {NEXT_DPUS}" in moved
    assert lock.read_text() == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("globex-lab/lab", "--rollback"),
            "--newest-templates and --rollback exclude each other; write one of them for globex-lab/lab",
        ),
        (("charts/cilium",), "--newest-templates is only for pools and dpus (got charts/cilium); omit it"),
        (
            ("globex-lab",),
            "globex-lab is a control plane; --newest-templates is only for pools, such as globex-lab/POOL",
        ),
    ],
)
def test_the_option_is_rejected_for_targets_without_templates(
    invoke: Invoke, words: tuple[str, ...], expected: str
) -> None:
    result = invoke("promote", "laptop", *words, "--newest-templates")

    assert (result.exit_code, result.stderr) == (2, f"error: {expected}\n")


def test_images_shows_pools_on_older_templates_and_the_command(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    shown = lines(invoke("show", "laptop", "images", *TODAY))
    data = json.loads(invoke("show", "laptop", "images", *TODAY, "--format", "json").stdout)

    [row] = (line for line in shown if line.endswith("promote laptop globex-lab/lab --newest-templates"))
    assert row.split()[:5] == ["globex-lab/lab", str(NEXT_NODES - 1), "of", str(NEXT_NODES), "3"]
    assert f"  node templates, revision {NEXT_NODES}: nodes are newer" in shown
    assert f"  DPU templates, revision {NEXT_DPUS}: DPUs are newer" in shown
    [dpus] = [item for item in data["templates"] if item["pool"] == "dpus"]
    assert (set(dpus["revisions"]), dpus["newest"], dpus["failing"]) == (
        {"dpus/acme", "dpus/globex", "dpus/unassigned"},
        NEXT_DPUS,
        {},
    )


def test_impact_shows_changed_templates_and_their_effects(tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", (), ())
    bench.promote_dpus(newest_templates=True)

    found = impact_of(bench)

    assert {row.effect for row in found.rows} == {"re-flashed", "provisioned"}
    [shown] = [[line.plain for line in templates(found) if line.plain]]
    assert shown[0] == "template revisions:"
    assert shown[1] == f"  dpus: 3 groups from revision {min(found.templates[0].before, NEXT_DPUS)} to {NEXT_DPUS}"
    assert shown[-1] == f"    revision {NEXT_DPUS}: DPUs are newer"
