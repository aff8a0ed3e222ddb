"""Receivers of each alert, by Alertmanager's real amtool if it is built, and the files of their credentials."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from components.lookups.receivers import tenant_receivers
from components.render.region import alert_routes, monitoring
from components.specs.environment import Environment
from components.specs.region.observability import Severity
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.machine.built_programs import built
from tests.support.monitoring.alerts import every_alert, fired

NOBODY = "null"
"""Receiver of alerts without a matching route."""
SENDING = [name for name in REFERENCES if reference(name).region.observability]
ROUTED_BY = ("audience", "severity", "tenant")
"""Labels that select the receivers of an alert."""
EACH = pytest.mark.parametrize("name", SENDING)


def configuration(name: str) -> dict[str, Any]:
    values = values_of(reference(name))
    return dict(values["alertmanager"]["config"])


def values_of(environment: Environment) -> dict[str, Any]:
    return dict(monitoring.operator(environment.region, tenant_receivers(environment)).values)


def expected(environment: Environment, labels: dict[str, str]) -> set[str]:
    """Return the receivers of an alert, derived from the data."""
    assert environment.region.observability
    lists = {"operators": environment.region.observability.receivers}
    if labels["audience"] == "tenant":
        tenant = labels["tenant"]
        lists[f"tenant/{tenant}"] = tenant_receivers(environment)[tenant]
    return {
        f"{owner}/{receiver.name}"
        for owner, receivers in lists.items()
        for receiver in receivers
        if labels["severity"] in receiver.severities
    }


@EACH
def test_each_alert_reaches_only_the_operators_and_its_tenant(name: str, tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(json.dumps(configuration(name)), encoding="utf-8")
    environment = reference(name)
    seen = set()
    for labels in routed_differently(fired(name)):
        route = [f"{label}={value}" for label, value in labels.items()]
        got = run("config", "routes", "test", f"--config.file={file}", *route).strip()

        wanted = expected(environment, labels)
        assert set(got.split(",")) == (wanted or {NOBODY}), labels
        if labels["severity"] == Severity.INFO:
            continue  # No receiver gets this severity by default.
        assert any(receiver.startswith("operators/") for receiver in wanted), labels
        if labels["audience"] == "tenant":
            assert any(receiver.startswith(f"tenant/{labels['tenant']}/") for receiver in wanted), labels
        seen |= wanted
    listed = {receiver["name"] for receiver in configuration(name)["receivers"]} - {"null", "watchdog"}
    assert seen == listed


def routed_differently(alerts: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Return one alert for each combination of `ROUTED_BY`: other labels do not change the route."""
    return list({tuple(labels.get(label) for label in ROUTED_BY): labels for labels in alerts}.values())


@EACH
def test_routes_match_no_other_labels(name: str) -> None:
    """An alert other than the watchdog has the same receivers as all alerts with the same values of `ROUTED_BY`."""
    of_watchdog = ['alertname = "Watchdog"']
    routes = [route for route in configuration(name)["route"]["routes"] if route["matchers"] != of_watchdog]
    matched = {matcher.split()[0] for route in routes for matcher in route["matchers"]}

    assert matched <= set(ROUTED_BY)
    assert not any("routes" in route for route in routes)


@EACH
def test_alertmanager_accepts_the_configuration(name: str, tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(json.dumps(configuration(name)), encoding="utf-8")

    assert "SUCCESS" in run("check-config", str(file))


@EACH
def test_the_watchdog_gets_only_its_own_alert(name: str, tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(json.dumps(configuration(name)), encoding="utf-8")

    spec = reference(name).region.observability
    got = run("config", "routes", "test", f"--config.file={file}", "alertname=Watchdog", "severity=none")
    assert got.strip() == ("watchdog" if spec and spec.watchdog else "null")


def run(*arguments: str) -> str:
    done = subprocess.run([built("amtool"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@EACH
def test_each_credential_is_a_file_of_a_mounted_secret(name: str) -> None:
    values = values_of(reference(name))["alertmanager"]
    files = [value for key, value in leaves(values["config"]) if key.endswith("_file")]
    mounted = {f"{alert_routes.MOUNTS}/{secret}" for secret in values["alertmanagerSpec"].get("secrets", ())}

    assert {file.rpartition("/")[0] for file in files} == mounted
    secret = {"routing_key", "api_url", "url", "smtp_auth_password", "auth_password"}
    assert not {key for key, _ in leaves(values["config"])} & secret


def leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for name, entry in value.items() for leaf in leaves(entry, name)]
    if isinstance(value, list):
        return [leaf for entry in value for leaf in leaves(entry, key)]
    return [(key, value)]


def test_the_contact_for_alerts_gets_them_by_e_mail_unless_the_tenant_lists_receivers() -> None:
    receivers = tenant_receivers(reference("laptop"))

    assert [(one.name, one.email) for one in receivers["globex"]] == [("contact", "sre@globex.example")]
    assert [one.name for one in receivers["acme"]] == ["on-call", "team"]


def test_a_region_without_observability_keeps_the_defaults_of_the_chart() -> None:
    environment = reference("laptop")
    region = environment.region.model_copy(update={"observability": None})

    assert "alertmanager" not in monitoring.operator(region).values


LOST, WAVE = {"alertname": "RolloutGroupNotAvailable"}, {"alertname": "RolloutInProgress", "severity": "info"}
BURN = {"alertname": "ControlPlaneAvailabilityBurn"}
DUE = {"alertname": "KubeletCertificateNotRenewed", "namespace": "kube-system"}
SOON = {**DUE, "severity": "critical"}
OF_CLUSTER = {"tenant": "acme", "cluster": "acme-train"}


@pytest.mark.parametrize(
    ("source", "target", "silenced"),
    [
        ({**LOST, "group": "a01"}, {"alertname": "NodeUnhealthy", "group": "a01"}, True),
        ({**LOST, "group": "a01"}, {"alertname": "NodeUnhealthy", "group": "a02"}, False),
        ({**LOST, "group": "a01"}, {"alertname": "StorageAgentsDown"}, True),
        ({**WAVE, "group": "a01"}, {"alertname": "NetworkAgentsDown"}, True),
        ({**WAVE, "group": "a01"}, {"alertname": "ComputeDomainAgentsDown"}, True),
        ({**WAVE, "group": "a01"}, {"alertname": "NetworkAgentsDown", "cluster": "acme-dev"}, False),
        ({**WAVE, "group": "a01"}, {"alertname": "NodeUnhealthy", "group": "a01"}, False),
        ({**WAVE, "group": "a01"}, {"alertname": "GpuLost", "node": "n1"}, False),
        ({"alertname": "GpuLost", "fault": "node", "node": "n1"}, {"alertname": "NodeUnhealthy", "node": "n1"}, True),
        ({"alertname": "GpuLost", "fault": "node", "node": "n1"}, {"alertname": "NodeUnhealthy", "node": "n2"}, False),
        ({"alertname": "NicFailed", "node": "n1"}, {"alertname": "NodeUnhealthy", "node": "n1"}, False),
        ({"alertname": "ControlPlaneDown"}, {"alertname": "RolloutGroupNotAvailable", "group": "a01"}, True),
        ({"alertname": "ControlPlaneDown"}, {"alertname": "ControlPlaneSlow", "cluster": "acme-dev"}, False),
        ({"alertname": "ControlPlaneDown"}, {**BURN, "severity": "warning"}, True),
        ({"alertname": "ControlPlaneWasDown"}, {**BURN, "severity": "critical"}, True),
        ({"alertname": "ControlPlaneWasDown"}, {**BURN, "severity": "warning"}, False),
        (BURN, {"alertname": "ControlPlaneFails"}, True),
        (BURN, {"alertname": "ControlPlaneSlow"}, False),
        ({"alertname": "ControlPlaneLatencyBurn"}, {"alertname": "ControlPlaneSlow"}, True),
        ({**SOON, "node": "n1"}, {**DUE, "severity": "warning", "node": "n1"}, True),
        ({**SOON, "node": "n1"}, {**DUE, "severity": "warning", "node": "n2"}, False),
        ({**SOON, "name": "web"}, {**DUE, "severity": "warning", "name": "api"}, False),
    ],
)
def test_a_cause_silences_only_its_consequences(
    source: dict[str, str], target: dict[str, str], *, silenced: bool
) -> None:
    rules = configuration("laptop")["inhibit_rules"]

    assert any(inhibits(rule, {**OF_CLUSTER, **source}, {**OF_CLUSTER, **target}) for rule in rules) is silenced


def inhibits(rule: dict[str, Any], source: dict[str, str], target: dict[str, str]) -> bool:
    """Return whether a firing ``source`` mutes ``target``, as Alertmanager's inhibit package decides."""
    equal = all(source.get(label, "") == target.get(label, "") for label in rule["equal"])
    return equal and matches(rule["source_matchers"], source) and matches(rule["target_matchers"], target)


def matches(matchers: list[str], labels: dict[str, str]) -> bool:
    parsed = [re.fullmatch(r'(\w+) (=~?) "(.*)"', matcher) for matcher in matchers]
    return all(
        entry is not None
        and (
            labels.get(entry[1], "") == entry[3]
            if entry[2] == "="
            else re.fullmatch(entry[3], labels.get(entry[1], ""))
        )
        for entry in parsed
    )


def test_each_alert_about_agents_has_a_name_that_is_inhibited() -> None:
    of_agents = [
        alert.rule for alert in every_alert() if "kube_daemonset_status_number_unavailable" in alert.rule["expr"]
    ]

    assert len(of_agents) >= 3
    assert all(re.fullmatch(alert_routes.AGENTS_DOWN, rule["alert"]) for rule in of_agents)
