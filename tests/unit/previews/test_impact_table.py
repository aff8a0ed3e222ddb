"""Effects of consecutive edits: the impact table that reviewers read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.changes.impacts import edited, impact_of, lines
from tests.support.checks.places import resolved
from tests.support.data.environment_data import SMALL, root_of

TABLE: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "impacts.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["name"])
def test_an_edit_has_the_effect_of_the_table(case: dict[str, Any], tmp_path: Path) -> None:
    bench = edited(tmp_path, case.get("environment", "laptop"), case.get("edits", ()), case.get("then", ()))

    assert bench.report() == ""
    sides = (bench.folder, root_of(bench.name) / bench.name)
    impact = impact_of(bench)
    assert lines(impact) == [resolved(line, *sides) for line in case["impact"]]
    assert all(row.causes for row in impact.rows)


@pytest.mark.parametrize("name", SMALL)
def test_an_environment_without_edits_changes_nothing(name: str, tmp_path: Path) -> None:
    assert lines(impact_of(edited(tmp_path, name, (), ()))) == []


def test_no_two_cases_are_one() -> None:
    names = [case["name"] for case in TABLE]
    assert len(set(names)) == len(names)
