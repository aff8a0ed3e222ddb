"""Steps of a restore that do not follow the step of the base."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from components.rules.checks import check_change
from components.rules.control_planes.restore_steps import restore_steps
from components.specs.environment import Environment
from tests.support.checks.waived import waived
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

TODAY = dt.date(2026, 11, 21)
STORE = "    - name: shared-a\n"
SNAPSHOT, OTHER = (f"shared-a-etcd-backup-293847{minutes}-x2x4q.db" for minutes in (56, 57))
LATER = "write step: stop, apply it with jacquard up laptop, and write each further step in a later change"
FOLLOWING = [
    ("", "stop"),
    ("stop", "stop"),
    ("stop", "start"),
    ("stop", ""),
    ("start", "start"),
    ("start", "stop"),
    ("start", "done"),
    ("done", "done"),
    ("done", ""),
]
SKIPPED = [
    ("", "", "start", "'start' requires step stop of the same snapshot in the base, which has no restore"),
    ("", "", "done", "'done' requires step start of the same snapshot in the base, which has no restore"),
    (
        SNAPSHOT,
        "stop",
        "done",
        f"'done' requires step start of the same snapshot in the base, which has step stop of {SNAPSHOT}",
    ),
    (
        SNAPSHOT,
        "done",
        "start",
        f"'start' requires step stop of the same snapshot in the base, which has step done of {SNAPSHOT}",
    ),
    (
        OTHER,
        "stop",
        "start",
        f"'start' requires step stop of the same snapshot in the base, which has step stop of {OTHER}",
    ),
]


def at_step(folder: Path, step: str, snapshot: str = SNAPSHOT) -> Environment:
    bench = Workbench(copy_data(folder / "environments", "laptop"), "laptop")
    if step:
        bench.edit("region.yaml", STORE, f"{STORE}      restore: {{snapshot: {snapshot}, step: {step}}}\n")
    return bench.load()


@pytest.mark.parametrize(("before", "after"), FOLLOWING)
def test_steps_in_order_pass(tmp_path: Path, before: str, after: str) -> None:
    assert list(restore_steps(at_step(tmp_path / "base", before), at_step(tmp_path / "head", after))) == []


@pytest.mark.parametrize(("snapshot", "before", "after", "expected"), SKIPPED)
def test_a_skipped_step_is_reported(tmp_path: Path, snapshot: str, before: str, after: str, expected: str) -> None:
    base, head = at_step(tmp_path / "base", before, snapshot), at_step(tmp_path / "head", after)

    (found,) = restore_steps(base, head)

    assert (found.file, found.path, found.text) == (
        "region.yaml",
        "control_planes.data_stores[0].restore.step",
        f"{expected}; {LATER}",
    )
    assert found.subject == "shared-a"


def test_a_waiver_permits_a_skipped_step(tmp_path: Path) -> None:
    base, head = at_step(tmp_path / "base", ""), at_step(tmp_path / "head", "start")
    permitted = waived(head, "data-stores.restore-steps", "shared-a")

    found, left = ({item.rule for item in check_change(base, after, TODAY)} for after in (head, permitted))

    assert found - left == {"data-stores.restore-steps"}
