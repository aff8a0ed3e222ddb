"""Results of rules: blocking ones, ones tolerated because of the base, and the resulting decision."""

from __future__ import annotations

import datetime as dt

import pytest

from components.specs.reading.problems import FORM, Problem
from components.specs.region.policy import Enforcement, WaiverSpec
from components.specs.struct import replace
from policies.result_data import to_json
from policies.results import Decision, Result, Source, State, against, decision, of_advice, of_problem, ratcheted

WAIVER = WaiverSpec(rule="r", subject="s", reason="agreed", owner="ops", ticket="T-1", expires=dt.date(2026, 12, 1))


def result(source: Source = Source.OBJECTS, text: str = "wrong", **more: object) -> Result:
    base = Result(environment="laptop", rule="r", source=source, subject="s", text=text, level=Enforcement.MANDATORY)
    return replace(base, **more)  # type: ignore[arg-type] - any field


ADVICE = result(level=Enforcement.ADVISORY)
WAIVED = result(waiver=WAIVER)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], Decision.PASSED),
        ([ADVICE, WAIVED], Decision.PASSED),
        *(([ADVICE, result(source)], Decision.REFUSED) for source in Source if source is not Source.DATA),
        ([result(), result(Source.DATA)], Decision.BAD_DATA),
        ([result(Source.DATA, waiver=WAIVER), result(Source.LIVE)], Decision.REFUSED),
    ],
)
def test_data_errors_precede_violations_and_advice_never_blocks(results: list[Result], expected: Decision) -> None:
    assert decision(results) is expected


def test_a_result_exists_in_the_base_if_only_its_line_or_the_name_of_its_object_differs() -> None:
    before = [result(line=3, subject="template-1", text="wrong in template-1", identity="pool: wrong")]
    after = [result(line=9, subject="template-2", text="wrong in template-2", identity="pool: wrong"), result()]

    assert [item.state for item in against(before, after)] == [State.EXISTING, State.NEW]


def test_a_second_violation_with_the_same_text_is_new() -> None:
    assert [item.state for item in against([result()], [result(), result(line=2)])] == [State.EXISTING, State.NEW]


def test_an_existing_violation_blocks_only_if_it_is_critical() -> None:
    critical = result(text="critical", critical=True)
    before = [result(), critical]

    kept = list(ratcheted(before, [*before, result(text="another"), result(line=2)]))

    assert [item.blocks for item in kept] == [False, True, True, True]
    assert [item.state for item in kept] == [State.EXISTING, State.EXISTING, State.NEW, State.NEW]


@pytest.mark.parametrize("before", [WAIVED, ADVICE], ids=["waived", "advice"])
def test_a_violation_that_did_not_block_the_base_blocks(before: Result) -> None:
    [kept] = ratcheted([before], [result()])

    assert (kept.blocks, kept.state) == (True, State.EXISTING)


@pytest.mark.parametrize(
    ("rule", "critical"), [(FORM, True), ("networks.networks-disjoint", True), ("contracts.contracted-nodes", False)]
)
def test_a_problem_is_critical_if_no_waiver_can_permit_it(rule: str, critical: bool) -> None:  # noqa: FBT001 - a table
    problem = Problem("region.yaml", 0, "a.b", "must be right", rule=rule)

    found = of_problem("laptop", problem)

    assert (found.critical, found.blocks, found.line, found.text) == (critical, True, 1, "a.b: must be right")
    assert not of_advice("laptop", problem).blocks


def test_the_days_of_a_waiver_include_today() -> None:
    assert WAIVED.days_left(dt.date(2026, 11, 30)) == 1
    assert result().days_left(dt.date(2026, 11, 30)) is None
    assert to_json([WAIVED])[0]["waiver"]["expires"] == "2026-12-01"
