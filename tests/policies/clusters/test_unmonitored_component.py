"""unmonitored-component for all objects of the reference environments, by stage, and for single objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.inputs.manifests import everything
from components.lookups.monitor_targets import MONITORS, targets
from components.lookups.observed_components import RELEASES, Release, selected
from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import Context, Fact, object_fact
from policies.rules.clusters.unmonitored_component import RULE
from policies.verdict import Verdict
from tests.support.data.environment_data import SMALL, reference


@pytest.mark.parametrize("name", SMALL)
def test_each_rendered_release_has_a_monitor_or_a_reason(name: str, context: Context) -> None:
    items = list(everything(reference(name)))
    monitored = selected((item for item in items if item.kind in MONITORS), targets(items))
    of_region = Context.of(reference(name), context.now)
    facts = [object_fact(item.body, item.cluster) for item in items if item.kind in RELEASES]

    assert facts
    assert {RULE.judge(fact, replace(of_region, monitored=monitored)).verdict for fact in facts} == {Verdict.PASS}


def test_values_are_required_where_an_add_on_provides_monitoring(
    rendered: Callable[[str], list[Fact]], context: Context
) -> None:
    facts = [fact for fact in rendered("HelmRelease") if _release(fact).name == "gpu-operator"]
    clusters = frozenset(_release(fact).cluster for fact in facts)

    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}
    assert {RULE.judge(fact, replace(context, scraped=clusters)).verdict for fact in facts} == {Verdict.VIOLATION}


def _release(fact: Fact) -> Release:
    return Release.of(fact.body["spec"], fact.body["metadata"]["namespace"])


def test_one_object_at_a_time_has_no_verdict_without_a_row(context: Context) -> None:
    fact = object_fact(
        {"kind": "Kustomization", "metadata": {"namespace": "a"}, "spec": {"sourceRef": {"name": "x"}}}, "a"
    )

    assert RULE.judge(fact, context).verdict is Verdict.NOT_APPLICABLE


def test_only_production_rejects_components_without_a_monitor(context: Context) -> None:
    levels = {stage: RULE.level(replace(context, stage=stage, levels={})) for stage in Stage}

    assert levels == {
        stage: Enforcement.MANDATORY if stage is Stage.PRODUCTION else Enforcement.ADVISORY for stage in Stage
    }
