"""Mistakes in one file: the whole report, and the remedy it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

_CASES: list[dict[str, Any]] = [
    case
    for path in sorted(Path(__file__).parent.glob("bad_*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _CASES, ids=[case["name"] for case in _CASES])
def test_a_mistake_is_told_with_its_remedy_and_the_remedy_works(laptop: Any, case: dict[str, Any]) -> None:
    for file, text in case.get("files", {}).items():
        (laptop.folder / file).write_text(text, encoding="utf-8")
    for edit in case["edits"]:
        laptop.edit(*edit)
    assert laptop.report() + "\n" == case["report"]

    for file, old, new in case["remedy"]:
        assert f"{file}:" in case["report"], "a report names the file and the line to edit"
        laptop.edit(file, old, new)
    assert laptop.report() == ""
