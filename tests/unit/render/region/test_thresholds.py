"""Thresholds of alerts: defaults, bounds, and the rules of a region with other values."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.lookups.observed_components import alert_rules
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.region.observability import ObservabilitySpec
from components.specs.region.thresholds import THRESHOLDS, Threshold, ThresholdSpec, TunableAlert
from jacquard.machine import paths
from tests.support.data.environment_data import reference
from tests.support.monitoring.alerts import every_alert

_SCALES = {"%": 100, "% free": 100}
_SECONDS = {"min": 60, "days": 86_400}
_PAGE = paths.ROOT / "docs/region/observability.md"


def _number(limit: Threshold, value: int) -> str:
    """Return ``value`` as the expression of the rule has it: a share, or seconds."""
    return str(value / 100) if limit.unit in _SCALES else str(value * _SECONDS[limit.unit])


def _with(environment: Environment, thresholds: tuple[ThresholdSpec, ...]) -> Environment:
    region = environment.region
    assert region.observability is not None
    observability = region.observability.model_copy(update={"thresholds": thresholds})
    return environment.model_copy(update={"region": region.model_copy(update={"observability": observability})})


def _compared(environment: Environment) -> dict[str, set[str]]:
    """Return the numbers with which the expressions of tunable alerts end, by alert."""
    found: dict[str, set[str]] = {}
    for item in everything(environment):
        for rule in alert_rules(item) if isinstance(item, Manifest) else ():
            if rule["alert"] in set(TunableAlert):
                found.setdefault(rule["alert"], set()).add(re.split(r" [<>] ", rule["expr"])[-1])
    return found


def test_each_threshold_has_a_rule_with_its_default() -> None:
    ends = {(alert.rule["alert"], re.split(r" [<>] ", alert.rule["expr"])[-1]) for alert in every_alert()}

    assert {(alert.value, _number(limit, limit.default)) for alert, limit in THRESHOLDS.items()} <= ends
    assert THRESHOLDS.keys() == {*TunableAlert}


def test_all_rules_of_an_alert_have_the_value_of_the_region() -> None:
    changed = {alert: limit.maximum for alert, limit in THRESHOLDS.items()}
    thresholds = tuple(ThresholdSpec(alert=alert, value=value, reason="a test") for alert, value in changed.items())
    environment = _with(reference("us-east-04a"), thresholds)

    assert _compared(environment) == {
        alert.value: {_number(THRESHOLDS[alert], value)} for alert, value in changed.items()
    }


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"alert": "EtcdNearlyFull", "value": 96}, r"must be 50 to 95 \(%\) for EtcdNearlyFull; write 95"),
        ({"alert": "LogStoreNearlyFull", "value": 10}, r"must be 11 to 50 \(% free\) for LogStoreNearlyFull; write 11"),
    ],
)
def test_a_threshold_is_within_its_bounds(entry: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ThresholdSpec.model_validate({"reason": "a test", **entry})


def test_an_alert_has_one_threshold() -> None:
    entry = {"alert": "ApplyOld", "value": 3, "reason": "a test"}
    receiver = {"name": "on-call", "webhook_secret": "hook"}

    with pytest.raises(ValueError, match="has a threshold already; remove one of the two"):
        ObservabilitySpec.model_validate({"receivers": [receiver], "thresholds": [entry, entry]})


def test_the_page_lists_the_thresholds() -> None:
    rows = re.findall(
        r"^\| \[(\w+)\]\(alerts\.md#\w+\) \| (\d+) (.+) \| (\d+) to (\d+) \|$",
        _PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )

    assert rows == [
        (alert.value, str(limit.default), limit.unit, str(limit.minimum), str(limit.maximum))
        for alert, limit in THRESHOLDS.items()
    ]
