"""Rules over a region, one at a time: the complete report, and the remedy in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.rules.rule import rule_name
from components.rules.tables import ALL
from components.specs.reading.problems import SpecError
from tests.support.checks.corpus import Case, apply, apply_mistakes, cases, expected, title

_CASES = cases(Path(__file__).parent, "*_rules.yaml")
_RULES = {rule_name(rule): rule for rule in (*ALL.references, *ALL.data, *ALL.locks)}


@pytest.mark.parametrize("case", _CASES, ids=map(title, _CASES))
def test_a_rule_reports_a_contradiction_until_the_remedy_is_applied(laptop: Any, case: Case) -> None:
    assert _report(laptop, case["rule"]) == ""

    apply_mistakes(laptop, case)
    assert _report(laptop, case["rule"]) == expected(laptop, case)

    apply(laptop, case["remedy"])
    assert _report(laptop, case["rule"]) == ""


def _report(laptop: Any, rule: str) -> str:
    environment = laptop.load()
    waived = {waiver.subject for waiver in environment.waivers.waivers if waiver.rule == rule}
    problems = [problem for problem in _RULES[rule](environment) if problem.subject not in waived]
    return str(SpecError("laptop", problems)) if problems else ""
