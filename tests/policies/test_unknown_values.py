"""No policy passes a rendered object in which a value that the policy reads is unknown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.struct import replace
from policies.facts import ANY_KIND, UNKNOWN, Context, Fact, object_fact
from policies.rules import RULES
from policies.stack_objects import StackObjects
from policies.verdict import Rule, Verdict
from tests.support.checks.recording_fact import RecordingFact
from tests.support.data.environment_data import reference

MOST = 4
"""Objects of a kind for each policy; further objects of a kind have the same fields."""
DECIDED = {
    "change-in-freeze",
    "ignored-changes",
    "unlimited-waiver",
}
"""Policies about data and options, of which all values are known."""
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="module", params=["laptop", "eu-south-03a"])
def environment(request: pytest.FixtureRequest) -> Environment:
    return reference(request.param)


@pytest.fixture(scope="module")
def facts(environment: Environment) -> tuple[Fact, ...]:
    return tuple(object_fact(item.body, item.cluster, source="rendered") for item in everything(environment))


@pytest.fixture(scope="module")
def context(environment: Environment, facts: tuple[Fact, ...]) -> Context:
    """Return the context of production, with registries and the objects of the environment."""
    known = Context.of(environment, NOW)
    return replace(known, stage=Stage.PRODUCTION, registries=("registry.example",), objects=StackObjects.of(facts))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.name not in DECIDED], ids=lambda rule: rule.name)
def test_a_policy_does_not_pass_an_object_with_an_unknown_value(
    rule: Rule, facts: tuple[Fact, ...], context: Context
) -> None:
    passed = set()
    for fact in _of_each_kind(rule, facts):
        recording = RecordingFact.of(fact)
        if rule.judge(recording, context).verdict is not Verdict.PASS:
            continue
        for path in dict.fromkeys(recording.read):
            for body in _with_unknown(fact.body, path):
                if rule.judge(replace(fact, body=body), context).verdict is Verdict.PASS:
                    passed.add((fact.kind, path))

    assert passed == set()


def _of_each_kind(rule: Rule, facts: tuple[Fact, ...]) -> Iterator[Fact]:
    counts: dict[Any, int] = {}
    for fact in facts:
        if {fact.kind, ANY_KIND} & rule.kinds:
            counts[fact.kind] = counts.get(fact.kind, 0) + 1
            if counts[fact.kind] <= MOST:
                yield fact


def _with_unknown(body: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """Yield ``body`` with the value at ``path`` unknown, and with each of its parents unknown."""
    first, *rest = path
    if not isinstance(body, dict) or first not in body:
        return
    yield {**body, first: UNKNOWN}
    if rest:
        yield from ({**body, first: changed} for changed in _with_unknown(body[first], tuple(rest)))
