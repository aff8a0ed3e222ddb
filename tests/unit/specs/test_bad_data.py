"""Mistakes in one file: the whole report, and the remedy it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

_CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "bad_data.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", _CASES, ids=[case["name"] for case in _CASES])
def test_a_mistake_is_told_with_its_remedy_and_the_remedy_works(laptop: Any, case: dict[str, Any]) -> None:
    for edit in case["edits"]:
        laptop.edit(*edit)
    assert laptop.report() + "\n" == case["report"]

    for edit in case["remedy"]:
        laptop.edit(*edit)
    assert laptop.report() == ""
