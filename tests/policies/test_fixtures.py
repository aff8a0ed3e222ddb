"""Facts of each kind for a policy: accepted, rejected, not applicable, undecided, waived, and with unknown values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.lookups.monitor_targets import Target
from components.lookups.observed_components import Observers
from components.render.manifest import MANAGEMENT
from components.render.objects import manifest
from components.render.region.dashboards import LABEL
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.region.policy import Enforcement, FreezeSpec, WaiverSpec
from components.specs.region.versions import MissingPartsSpec, ObservedSpec
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.judging import Judge, Violation
from policies.rules import RULES
from policies.stack_objects import StackObjects
from policies.verdict import Rule, Verdict
from tests.support.checks.recording_fact import RecordingFact

_FOLDER = Path(__file__).parent / "fixtures"
_BY_NAME = {str(rule.name): rule for rule in RULES}
_FIXTURES = {
    path.stem: [{"rule": path.stem, **case} for case in yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)]
    for path in sorted(_FOLDER.rglob("*.yaml"))
}
_CASES: list[Any] = [
    pytest.param(name, case, id=f"{name}: {case['name']}") for name, cases in _FIXTURES.items() for case in cases
]
_DECIDED = {"change-in-freeze", "ignored-changes", "unlimited-waiver"}
"""Policies about options, data and tenants, of which all values are known."""
_TARGETS = tuple(
    Target(kind=kind, cluster=MANAGEMENT, namespace="tools", labels=labels, ports=ports)
    for kind, labels, ports in (
        ("Service", {"app": "tools", "tier": "web"}, ("http", "metrics")),
        ("Service", {}, ("http",)),
        ("Pod", {"app": "tools"}, ("http",)),
    )
)
"""Services and pods that monitors can select."""
_OBSERVERS = Observers(
    [
        manifest("v1", "PrometheusRule", "tools", spec={"groups": [{"rules": [{"alert": "ToolsDown"}]}]}),
        manifest("v1", "ConfigMap", "tools", labels={LABEL: "1"}, data={"tools.json": '{"title": "Tools"}'}),
    ]
)
_OBSERVED = {
    "rendered-parts": ObservedSpec(alerts=("ToolsDown",), dashboards=("Tools",)),
    "reasons": ObservedSpec(
        without=MissingPartsSpec(monitor="no metrics", alerts="no metrics", dashboards="no metrics")
    ),
    "one-part": ObservedSpec(alerts=("ToolsDown",)),
    "misspelt": ObservedSpec(alerts=("ToolDown",), dashboards=("Tool",)),
}
_MONITORED, _SCRAPED = frozenset({(MANAGEMENT, "data-stores"), ("globex-lab", "tools")}), frozenset({"globex-lab"})
_REGISTRIES = ("registry.cloud.example", "ghcr.io/nvidia")
_VERDICTS = {"advice": Verdict.VIOLATION, "waived": Verdict.VIOLATION}


@pytest.fixture(scope="module")
def context(laptop: Environment, now: dt.datetime) -> Context:
    """Return the context of laptop with listed registries, and with targets of monitors."""
    return replace(
        Context.of(laptop, now),
        registries=_REGISTRIES,
        targets=_TARGETS,
        monitored=_MONITORED,
        scraped=_SCRAPED,
        observers=_OBSERVERS,
        observed=_OBSERVED,
    )


def _fact(case: Any) -> Fact:
    if "kind" in case:
        title = case.get("title", f"{case['kind']} settings")
        return Fact(kind=case["kind"], title=title, body=_unknown(case["object"]))
    return object_fact(_unknown(case["object"]), case.get("cluster", MANAGEMENT), source="resource x")


def _unknown(value: Any) -> Any:
    match value:
        case "<unknown>":
            return UNKNOWN
        case dict():
            return {key: _unknown(inner) for key, inner in value.items()}
        case list():
            return [_unknown(inner) for inner in value]
    return value


@pytest.mark.parametrize(("name", "case"), _CASES)
def test_a_fact_has_its_verdict_and_text(name: str, case: Any, context: Context) -> None:
    rule, fact, context = _BY_NAME[name], _fact(case), _given(context, case)

    finding = rule.judge(fact, _in_stack(context, fact, case))

    assert finding.verdict == _VERDICTS.get(case["verdict"], case["verdict"])
    assert finding.found == case.get("found", "")
    violations = _violations(rule, fact, case, context)
    assert [item.level for item in violations] == _levels(rule, case["verdict"], context)
    if "text" in case:
        assert [str(item) for item in violations] == [case["text"]]


def _given(context: Context, case: Any) -> Context:
    """Return ``context`` with the data of the case."""
    data: dict[str, Any] = {key: _frozen(value) for key, value in case.get("context", {}).items()}
    if "stage" in data:
        data["stage"] = Stage(data["stage"])
    if "own_values" in data:
        data["own_values"] = {tuple(key.split("/")): value for key, value in data["own_values"].items()}
    if "charts" in data:
        edits = data["charts"]
        data["charts"] = tuple(chart.model_copy(update=edits.get(chart.name, {})) for chart in context.charts)
    if "freezes" in data:
        data["freezes"] = data["freezes"] and tuple(map(FreezeSpec.model_validate, data["freezes"]))
    return replace(context, **data)


def _frozen(value: Any) -> Any:
    match value:
        case dict():
            return {key: _frozen(inner) for key, inner in value.items()}
        case list():
            return tuple(map(_frozen, value))
    return value


def _others(case: Any) -> list[Fact]:
    """Return the other objects of the stack."""
    return [object_fact(_unknown(body), MANAGEMENT, source="resource other") for body in case.get("with", ())]


def _in_stack(context: Context, fact: Fact, case: Any) -> Context:
    if not _BY_NAME[case["rule"]].is_stack_wide:
        return context
    return replace(context, objects=StackObjects.of([*_others(case), fact]))


def _violations(rule: Rule, fact: Fact, case: Any, context: Context) -> list[Violation]:
    judge = Judge([rule], replace(context, is_strict=True))  # As after the advisory period of a new policy
    found = judge.stack_violations([*_others(case), fact]) if rule.is_stack_wide else judge.violations(fact)
    return [item for item in found if item.fact is fact]


def _levels(rule: Rule, verdict: str, context: Context) -> list[Enforcement | None]:
    match verdict:
        case "pass" | "not-applicable":
            return []
        case "advice":
            return [Enforcement.ADVISORY]
        case "undecided":
            return [Enforcement.MANDATORY]
    return [rule.level(replace(context, is_strict=True))]


def test_every_policy_has_fixtures() -> None:
    assert _FIXTURES.keys() == _BY_NAME.keys()


@pytest.mark.parametrize("name", _FIXTURES)
def test_a_policy_has_a_fixture_of_each_kind(name: str) -> None:
    verdicts = [case["verdict"] for case in _FIXTURES[name]]
    least = {"pass": 2, "violation": 3, "not-applicable": 1, "undecided": int(name not in _DECIDED), "waived": 1}

    least = {verdict: count for verdict, count in least.items() if count}
    assert {verdict: min(verdicts.count(verdict), count) for verdict, count in least.items()} == least
    assert any("text" in case for case in _FIXTURES[name])


@pytest.mark.parametrize(("name", "case"), [item for item in _CASES if item.values[1]["verdict"] == "waived"])
def test_a_waiver_for_the_subject_makes_a_violation_advisory(name: str, case: Any, context: Context) -> None:
    context = _given(context, case)
    waiver = WaiverSpec(
        rule=name,
        subject=case["subject"],
        reason="until the next release",
        owner="platform@cloud.example",
        ticket="CHG-1",
        expires=context.today + dt.timedelta(days=1),
    )

    [violation] = _violations(_BY_NAME[name], _fact(case), case, replace(context, waivers=(waiver,)))

    assert (violation.is_waived, violation.is_refused) == (True, False)


@pytest.mark.parametrize(("name", "case"), [item for item in _CASES if item.values[1]["verdict"] == "pass"])
def test_a_fact_with_an_unknown_value_that_the_rule_reads_does_not_pass(name: str, case: Any, context: Context) -> None:
    rule, fact, context = _BY_NAME[name], _fact(case), _given(context, case)
    if name in _DECIDED:
        return
    recording = RecordingFact.of(fact)
    rule.judge(recording, _in_stack(context, fact, case))
    assert recording.read

    for path in recording.read:
        for body in _with_unknown(fact.body, path):
            changed = replace(fact, body=body)
            verdict = rule.judge(changed, _in_stack(context, changed, case)).verdict
            assert verdict in {Verdict.UNDECIDED, Verdict.VIOLATION}, path


def _with_unknown(body: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """Yield ``body`` with the value at ``path`` unknown, and with each of its parents unknown."""
    first, *rest = path
    yield {**body, first: UNKNOWN}
    inner = body.get(first) or {}
    if rest and isinstance(inner, dict):
        yield from ({**body, first: changed} for changed in _with_unknown(inner, tuple(rest)))
