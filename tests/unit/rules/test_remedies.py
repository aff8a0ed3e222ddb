"""Following the remedies of reports leads to valid data, or to a decision that only a user can make."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checks.corpus import FOLDERS, Case, apply_mistakes, cases, title
from tests.support.checks.remedies import asks_for, follow_all

_CORPORA = ("bad_*.yaml", "*_rules.yaml")
_CASES = [case for folder in FOLDERS for pattern in _CORPORA for case in cases(folder, pattern)]


@pytest.mark.parametrize("case", _CASES, ids=map(title, _CASES))
def test_no_remedy_leads_back_to_an_earlier_problem(laptop: Any, case: Case) -> None:
    apply_mistakes(laptop, case)

    left = follow_all(laptop).left

    nobody_knows = [f"{one.place} {one.path}: {one.text}" for one in left if not asks_for(one)]
    assert nobody_knows == [], "a text says what to write, or what only a person can know"
