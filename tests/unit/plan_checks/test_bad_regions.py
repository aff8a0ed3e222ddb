"""Contradictions between files: the whole report, and the remedy it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from promoting import promote

from components.specs.store import write_locks

_CASES: list[dict[str, Any]] = [
    case
    for path in sorted(Path(__file__).parent.glob("bad_*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _CASES, ids=[case["name"] for case in _CASES])
def test_a_contradiction_is_told_with_its_remedy_and_the_remedy_works(laptop: Any, case: dict[str, Any]) -> None:
    _apply(laptop, case["edits"])
    assert laptop.report() + "\n" == case["report"]

    _apply(laptop, case["remedy"])
    assert laptop.report() == ""


def _apply(laptop: Any, steps: list[list[str] | str]) -> None:
    for step in steps:
        match step if isinstance(step, list) else step.split():
            case ["allocate"]:
                laptop.allocate()
            case ["promote", pool, version]:
                environment = laptop.load()
                write_locks(environment, laptop.root, environment.allocations, promote(environment, pool, version))
            case ["intent", name, field, value]:
                laptop.intend(name, field, yaml.safe_load(value))
            case edit:
                laptop.edit(*edit)
    if any(step[0].endswith(".lock.yaml") for step in steps if isinstance(step, list)):
        laptop.sign()  # what is wrong beside the digest is the matter here
