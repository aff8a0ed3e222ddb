"""A new policy is advisory until its binding date, in checks, settings and the engine; the data can bind it earlier."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from google.protobuf import empty_pb2

from components.rules.rule import AdvisoryPeriod
from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import Context, Fact, object_fact
from policies.judging import Judge, Violation
from policies.pack.analyzer import Analyzer
from policies.places import Places
from policies.results import Decision, decision, of_violation
from policies.verdict import Finding, Rule, Severity, undecided, violation
from tests.support.engine.policy_pack import ADVISORY, MANDATORY, request

PERIOD = AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1))
LAST_WARNING = dt.datetime(2027, 2, 28, 23, 59, tzinfo=dt.UTC)
FIRST_ERROR = dt.datetime(2027, 3, 1, tzinfo=dt.UTC)
LINE = "  level:   a warning; an error from 2027-03-01"


def find(fact: Fact, _context: Context) -> Finding:
    if fact.at("data") is None:
        return undecided("data")
    level = Enforcement.ADVISORY if fact.at("data", "minor") else None
    return violation(found="a setting", allowed="no setting", fix="remove it", level=level)


NEW = Rule(
    name="no-settings",
    description="There are no settings.",
    why="settings are new",
    severity=Severity.HIGH,
    kinds=frozenset({"ConfigMap"}),
    find=find,
    advisory_period=PERIOD,
)


def settings(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}} | (
        {"data": data} if data else {}
    )


def judged(context: Context, rule: Rule = NEW, **data: str) -> Violation:
    [found] = Judge([rule], context).violations(object_fact(settings(**data), "management"))
    return found


@pytest.fixture
def warning(context: Context) -> Context:
    """Return the facts of laptop on the last day of the period."""
    return replace(context, now=LAST_WARNING)


def test_a_violation_is_advisory_until_its_binding_date_and_reports_it(warning: Context) -> None:
    before, after = judged(warning, key="1"), judged(replace(warning, now=FIRST_ERROR), key="1")

    assert (before.level, before.binding, before.is_refused) == (Enforcement.ADVISORY, PERIOD.binding, False)
    assert (after.level, after.binding, after.is_refused) == (Enforcement.MANDATORY, None, True)
    assert str(before).splitlines()[-1] == LINE
    assert LINE not in str(after)


def test_an_undecided_fact_is_a_warning_too(warning: Context) -> None:
    assert judged(warning).level is Enforcement.ADVISORY
    assert judged(replace(warning, now=FIRST_ERROR)).level is Enforcement.MANDATORY


def test_a_finding_that_is_always_advisory_has_no_day(warning: Context) -> None:
    found = judged(warning, minor="1")

    assert (found.level, found.binding) == (Enforcement.ADVISORY, None)


@pytest.mark.parametrize(
    "change",
    [
        {"is_strict": True},
        {"levels": {"no-settings": Enforcement.MANDATORY}},
    ],
)
def test_data_and_strict_checks_end_the_period_early(warning: Context, change: dict[str, Any]) -> None:
    assert judged(replace(warning, **change), key="1").is_refused


def test_a_critical_policy_has_no_period_in_production(warning: Context) -> None:
    critical, production = replace(NEW, severity=Severity.CRITICAL), replace(warning, stage=Stage.PRODUCTION)

    assert judged(production, critical, key="1").is_refused


def test_a_policy_without_a_level_is_not_evaluated(warning: Context) -> None:
    absent = replace(NEW, levels={})

    assert absent.level(warning) is None
    assert absent.binding(warning) is None


def test_the_engine_gets_an_advisory_violation(context: Context) -> None:
    del context
    sent = request("kubernetes:core/v1:ConfigMap", settings(key="1"))

    def level(now: dt.datetime) -> tuple[Any, Any]:
        pack = Analyzer(now, [NEW])
        [policy] = pack.GetAnalyzerInfo(empty_pb2.Empty(), None).policies
        [found] = pack.Analyze(sent, None).diagnostics
        assert (LINE in found.message) is (found.enforcementLevel == ADVISORY)
        return policy.enforcementLevel, found.enforcementLevel

    assert level(LAST_WARNING) == (ADVISORY, ADVISORY)
    assert level(FIRST_ERROR) == (MANDATORY, MANDATORY)


def test_a_warning_decides_nothing(warning: Context, laptop: Any) -> None:
    result = of_violation(judged(warning, key="1"), Places(laptop))

    assert (result.blocks, result.binding) == (False, PERIOD.binding)
    assert decision([result]) is Decision.PASSED
