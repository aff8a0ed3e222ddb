"""All rendered alerts of all reference environments: labels for routes, hold time, severity and runbook."""

from __future__ import annotations

import re

import pytest

from components.render.manifest import MANAGEMENT
from components.render.region.monitors import RUNBOOKS, Audience
from components.specs.region.observability import Severity
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES
from tests.support.monitoring.alerts import alerts_of

PAGE = paths.ROOT / "docs/region/alerts.md"
ANCHORS = {
    re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
    for title in re.findall(r"^#+ (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
}
BY_SERIES = {"ClusterNotAvailable", "RolloutGroupNotAvailable", "RolloutInProgress", "NodeUnhealthy"}
"""Alerts whose series have the label ``tenant`` (`components.render.region.platform_objects`)."""


@pytest.mark.parametrize("name", REFERENCES)
def test_each_alert_has_severity_audience_hold_time_summary_and_a_runbook(name: str) -> None:
    alerts = alerts_of(name)

    assert alerts
    for alert in alerts:
        rule, labels = alert.rule, alert.rule["labels"]
        assert labels["severity"] in set(Severity), rule
        assert labels["audience"] in set(Audience), rule
        assert re.fullmatch(r"[1-9][0-9]*[smh]", rule["for"]), rule
        assert rule["annotations"]["summary"], rule
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert (page, anchor in ANCHORS) == (RUNBOOKS, True), rule


@pytest.mark.parametrize("name", REFERENCES)
def test_an_alert_for_tenants_names_the_tenant(name: str) -> None:
    unnamed = {
        alert.rule["alert"]
        for alert in alerts_of(name)
        if alert.cluster == MANAGEMENT and alert.rule["labels"]["audience"] == Audience.TENANT
        if "tenant" not in alert.rule["labels"]
    }

    assert unnamed == BY_SERIES
