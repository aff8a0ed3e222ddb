"""unmatched-monitor for all objects of the reference environments, and for single objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.inputs.manifests import everything
from components.lookups.monitor_targets import MONITORS, chart_pods, matches, targets
from components.specs.struct import replace
from policies.facts import Context, Fact, object_fact
from policies.rules.clusters.unmatched_monitor import RULE
from policies.verdict import Verdict
from tests.support.data.environment_data import LAPTOP, SMALL, reference


@pytest.mark.parametrize("name", SMALL)
def test_each_rendered_monitor_selects_something(name: str, context: Context) -> None:
    items = list(everything(reference(name)))
    found = replace(context, targets=tuple(targets(items)))
    facts = [object_fact(item.body, item.cluster) for item in items if item.kind in MONITORS]

    assert facts
    assert {RULE.judge(fact, found).verdict for fact in facts} == {Verdict.PASS}


def test_each_rendered_monitor_selects_nothing_without_its_targets(
    rendered: Callable[[str], list[Fact]], context: Context
) -> None:
    facts = [fact for kind in MONITORS for fact in rendered(kind)]

    assert {RULE.judge(fact, replace(context, targets=())).verdict for fact in facts} == {Verdict.VIOLATION}


def test_one_object_at_a_time_is_not_evaluated(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    assert context.targets is None
    assert {RULE.judge(fact, context).verdict for fact in rendered("ServiceMonitor")} == {Verdict.NOT_APPLICABLE}


def test_recorded_pods_are_those_of_the_pinned_charts() -> None:
    pinned = {chart.name: chart.version for chart in reference(LAPTOP.name).versions.charts}

    assert {row.chart: row.version for row in chart_pods().values()} == {name: pinned[name] for name in chart_pods()}


@pytest.mark.parametrize(
    ("expression", "matched"),
    [
        ({"operator": "In", "values": ["web"]}, True),
        ({"operator": "In", "values": ["data"]}, False),
        ({"operator": "NotIn", "values": ["web"]}, False),
        ({"operator": "NotIn", "values": ["data"]}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "DoesNotExist"}, False),
    ],
)
def test_expressions_of_a_selector(expression: dict[str, object], *, matched: bool) -> None:
    assert matches({"tier": "web"}, {"matchExpressions": [{"key": "tier", **expression}]}) is matched
