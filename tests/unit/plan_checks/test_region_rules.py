"""Rules over a region, one at a time: the whole report, and the remedy it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.plan import checks
from components.specs.problems import SpecError

_CASES: list[dict[str, Any]] = [
    case
    for path in sorted(Path(__file__).parent.glob("*_rules.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]
_RULES = {checks.rule_name(rule): rule for rule in (*checks.REFERENCES, *checks.DATA, *checks.LOCKS)}


@pytest.mark.parametrize("case", _CASES, ids=[f"{case['rule']}: {case['name']}" for case in _CASES])
def test_a_rule_tells_a_contradiction_and_is_silent_after_the_remedy(laptop: Any, case: dict[str, Any]) -> None:
    assert _report(laptop, case["rule"]) == ""

    _add_dpu_bmcs(laptop, case.get("dpu_bmcs", {}))
    for edit in case["edits"]:
        _apply(laptop, edit)
    assert _report(laptop, case["rule"]) + "\n" == case["report"]

    for edit in case["remedy"]:
        _apply(laptop, edit)
    assert _report(laptop, case["rule"]) == ""


def _report(laptop: Any, rule: str) -> str:
    problems = list(_RULES[rule](laptop.load()))
    return str(SpecError("laptop", problems)) if problems else ""


def _apply(laptop: Any, edit: list[str]) -> None:
    match edit:
        case [file, text]:
            (laptop.folder / file).write_text(text, encoding="utf-8")
        case [file, old, new]:
            laptop.edit(file, old, new)


def _add_dpu_bmcs(laptop: Any, addresses: dict[str, str]) -> None:
    """Add the optional column to the inventory, empty but for ``addresses`` by host."""
    if not addresses:
        return
    path = laptop.folder / "inventory" / "hall-a.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{header},dpu_bmc", *(f"{row},{addresses.get(row.split(',')[2], '')}" for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
