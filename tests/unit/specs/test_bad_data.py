"""Mistakes in one file: the complete report, and the remedy in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.reading.fixes import fixed_files
from tests.support.checks.corpus import Case, apply, apply_mistakes, cases, expected, expected_fixes, fixes, title

_CASES = cases(Path(__file__).parent, "bad_*.yaml")


@pytest.mark.parametrize("case", _CASES, ids=map(title, _CASES))
def test_a_mistake_is_reported_with_a_working_remedy(laptop: Any, case: Case) -> None:
    apply_mistakes(laptop, case)
    assert laptop.report() == expected(laptop, case)

    found = fixes(fixed_files(laptop.root, laptop.name))
    assert found == expected_fixes(laptop, case), "--fix applies the marked fixes only"
    assert all(f"{file}:" in case["report"] for file, *_ in case["remedy"]), "a report names the file and the line"
    apply(laptop, case["remedy"])
    assert laptop.report() == ""
