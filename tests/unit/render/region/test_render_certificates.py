"""Monitor of cert-manager, and alerts about Certificates; `test_alert_series` evaluates the expressions."""

from __future__ import annotations

import re

from components.render.region.certificates import watch

MONITOR, RULES = watch()
ALERTS = [rule for group in RULES.body["spec"]["groups"] for rule in group["rules"]]


def test_series_keep_the_namespace_and_name_of_their_certificate() -> None:
    [endpoint] = MONITOR.body["spec"]["podMetricsEndpoints"]

    assert endpoint["honorLabels"] is True
    assert {MONITOR.namespace, RULES.namespace} == {"cert-manager"}


def test_every_expression_reads_the_job_of_the_monitor() -> None:
    [endpoint] = MONITOR.body["spec"]["podMetricsEndpoints"]
    [job] = endpoint["relabelings"]

    for alert in ALERTS:
        selectors = re.findall(r"\{([^}]*)\}", alert["expr"])
        assert selectors
        assert all(f'job="{job["replacement"]}"' in selector for selector in selectors), alert


def test_a_restart_of_cert_manager_does_not_restart_hold_times() -> None:
    about_certificates = [alert for alert in ALERTS if "certmanager_certificate" in alert["expr"]]

    assert len(about_certificates) == 3
    for alert in about_certificates:
        series = alert["expr"].count("certmanager_certificate")
        assert alert["expr"].count("max by (namespace, name) (certmanager_certificate") == series


def test_a_late_renewal_is_first_a_warning_and_critical_before_the_certificate_expires() -> None:
    severities = [alert["labels"]["severity"] for alert in ALERTS if alert["alert"] == "CertificateNotRenewed"]

    assert severities == ["warning", "critical"]
