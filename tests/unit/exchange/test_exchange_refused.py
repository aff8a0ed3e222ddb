"""Errors in foreign files: complete reports, with the line and the key of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.exchange.renames import Renames
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

_FILES = sorted(Path(__file__).parent.glob("refused*.yaml"))
_CASES: list[dict[str, Any]] = [case for path in _FILES for case in yaml.safe_load(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("case", _CASES, ids=[case["name"] for case in _CASES])
def test_all_errors_are_reported_together(refused: Any, case: dict[str, Any]) -> None:
    choices = dict(case.get("choices", {}))
    more = {"hall": case["hall"]} if "hall" in case else {}
    more |= {"racks": Renames(pairs=choices.pop("racks"))} if "racks" in choices else {}

    report = refused(case["source"], case["text"], **more, **choices)
    assert report + "\n" == resolved(case["report"], LAPTOP)


def test_no_report_shows_a_password() -> None:
    reports = "".join(case["report"] for case in _CASES)

    assert [secret for secret in ("hunter2", "aHVudGVyMg") if secret in reports] == []


def test_json_that_is_nested_without_end_is_refused(refused: Any) -> None:
    report = "  the.file  is nested too deeply or contains a number with too many digits; export it again"

    assert [refused("nico", text + "\n") for text in ("[" * 200_000, "[" + "9" * 5_000 + "]")] == [report, report]


def test_yaml_that_is_nested_without_end_or_repeats_itself_is_refused(refused: Any) -> None:
    report = "  the.file  is nested too deeply or contains aliases (*); export it again"

    texts = ("- " * 50_000 + "\n", "- &a {kind: BareMetalHost}\n- *a\n")
    assert [refused("bare-metal-hosts", text) for text in texts] == [report, report]
