"""Monitor of cert-manager in the management cluster of a region with a store, and alerts about all Certificates there.

cert-manager exports a condition, a time of expiry and a time of renewal for each Certificate, with the labels
``namespace`` and ``name`` of the Certificate (CERT:internal/collectors/certificate_collector.go, 1.19). Both times are
0 until a certificate is issued. The time of renewal follows from ``renewBefore``, or is two thirds of the lifetime
(CERT:pkg/util/pki/renewaltime.go), so that no alert has a duration of its own in which certificates must be renewed.
A Certificate stays ready until it has expired (CERT:internal/controller/certificates/policies/policies.go
NewReadinessPolicyChain): readiness does not report a renewal that fails.
"""

from typing import Any

from components.render.manifest import Manifest
from components.render.region.monitors import alert, controller_monitor, prometheus_rule
from components.render.region.operators import CERT_MANAGER

_NAMESPACE = CERT_MANAGER
_LATE_HOLD = "120m"
"""cert-manager repeats the first failed issuance after one hour (CERT:pkg/controller/certificates/trigger/
trigger_controller.go shouldBackoffReissuingOnFailure)."""
_LEFT = "1 / 3"
"""Share of the time between renewal and expiry that is left when a late renewal becomes critical: ten days of the
default of 90 days."""
NOT_RENEWED = "CertificateNotRenewed"


def watch() -> tuple[Manifest, ...]:
    """Return the monitor of cert-manager's controller and the alerts."""
    # Pods of the webhook and of the CA injector have another name, and metrics without Certificates.
    return (
        controller_monitor(CERT_MANAGER, _NAMESPACE, "http-metrics"),
        prometheus_rule(CERT_MANAGER, "certificates", [*_alerts()], {}, namespace=_NAMESPACE, labels={}),
    )


def _alerts() -> tuple[dict[str, Any], ...]:
    # Without the labels of the pod, a restart of cert-manager does not restart the hold time.
    def of(metric: str, matchers: str = "") -> str:
        return f'max by (namespace, name) (certmanager_certificate_{metric}{{job="{CERT_MANAGER}"{matchers}}})'

    expiry, renewal = of("expiration_timestamp_seconds"), of("renewal_timestamp_seconds")
    ready = of("ready_status", ',condition="True"')
    return (
        alert(
            "CertManagerDown",
            "warning",
            f'absent(up{{job="{CERT_MANAGER}"}} == 1)',
            "cert-manager is down: no certificate is issued or renewed, and alerts about certificates cannot fire.",
        ),
        alert(
            "CertificateNotReady",
            "warning",
            f"{ready} == 0",
            "A Certificate is not issued, or has expired; see its condition Ready.",
        ),
        alert(
            NOT_RENEWED,
            "warning",
            f"({renewal} > 0) < time()",
            "A certificate was not renewed at its time of renewal; see the conditions and events of the Certificate.",
            hold=_LATE_HOLD,
        ),
        alert(
            NOT_RENEWED,
            "critical",
            f"({expiry} - time()) / ({expiry} - {renewal} > 0) < {_LEFT}",
            "A certificate expires soon and was not renewed; its clients reject connections afterwards.",
        ),
    )
