"""Contradictions between files: the complete report, and the remedy in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.checks.corpus import Case, apply, apply_mistakes, cases, expected, title

_CASES = cases(Path(__file__).parent, "bad_*.yaml")


@pytest.mark.parametrize("case", _CASES, ids=map(title, _CASES))
def test_a_contradiction_is_reported_with_a_working_remedy(laptop: Any, case: Case) -> None:
    apply_mistakes(laptop, case)
    assert laptop.report() == expected(laptop, case)

    apply(laptop, case["remedy"])
    assert laptop.report() == ""
