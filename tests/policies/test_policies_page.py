"""docs/reference/policies.md gives the reason, a rejected example and a correct example of each rule."""

from __future__ import annotations

import pytest

from jacquard.machine import paths
from policies import page
from policies.rules import RULES
from policies.verdict import Rule


def test_the_page_in_the_repository_is_current() -> None:
    assert (paths.ROOT / page.FILE).read_text(encoding="utf-8") == page.text(), "run jacquard schema --write"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_its_reason_and_an_example_of_each_kind(rule: Rule) -> None:
    _, _, section = page.text().partition(f"### {rule.name}\n")
    section = section.partition("\n### ")[0]

    assert section.startswith(f"\n{rule.description}\n\nWhy: ")
    assert "\n- Rejected: " in section
    assert "\n- Correct: " in section
