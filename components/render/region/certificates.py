"""Monitor of cert-manager in the management cluster of a region with a store, and alerts about all Certificates.

Clusters of tenants have the monitor of the chart, with the same labels, and the same alerts.

cert-manager exports a condition, a time of expiry and a time of renewal for each Certificate, with the labels
``namespace`` and ``name`` of the Certificate (CERT:internal/collectors/certificate_collector.go, 1.19). Both times are
0 until a certificate is issued. The time of renewal follows from ``renewBefore``, or is two thirds of the lifetime
(CERT:pkg/util/pki/renewaltime.go), so that no alert has a duration of its own in which certificates must be renewed.
A Certificate stays ready until it has expired (CERT:internal/controller/certificates/policies/policies.go
NewReadinessPolicyChain): readiness does not report a renewal that fails.
"""

from typing import Any

from components.render.manifest import Manifest
from components.render.region.monitors import Audience, alert, controller_monitor, prometheus_rule
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
    down = f'absent(up{{job="{CERT_MANAGER}"}} == 1)'
    # Pods of the webhook and of the CA injector have another name, and metrics without Certificates.
    return (
        controller_monitor(CERT_MANAGER, _NAMESPACE, "http-metrics"),
        prometheus_rule(CERT_MANAGER, "certificates", [*alerts(down)], {}, namespace=_NAMESPACE, labels={}),
    )


def cluster_alerts(namespace: str, name: str) -> tuple[dict[str, Any], ...]:
    """Return the alerts about cert-manager in a tenant's cluster.

    Without metrics of the cluster, only the alert about missing metrics fires.

    Args:
        namespace: namespace of its release.
        name: name of its release.
    """
    # Deployment and Service, whose name is the label job, have the full name of the chart (CERT:deploy/charts/
    # cert-manager/templates/_helpers.tpl).
    full = name if CERT_MANAGER in name else f"{name}-{CERT_MANAGER}"
    of = f'namespace="{namespace}",deployment="{full}"'
    return alerts(f"kube_deployment_status_replicas_available{{{of}}} == 0", job=full, audience=Audience.TENANT)


def alerts(
    down: str, *, job: str = CERT_MANAGER, audience: Audience = Audience.OPERATORS
) -> tuple[dict[str, Any], ...]:
    """Return the alerts about cert-manager and its Certificates.

    Args:
        down: the expression that is true while cert-manager is down.
        job: label of the series of cert-manager's controller.
        audience: recipients of the alerts.
    """

    # Without the labels of the pod, a restart of cert-manager does not restart the hold time.
    def of(metric: str, matchers: str = "") -> str:
        return f'max by (namespace, name) (certmanager_certificate_{metric}{{job="{job}"{matchers}}})'

    expiry, renewal = of("expiration_timestamp_seconds"), of("renewal_timestamp_seconds")
    ready = of("ready_status", ',condition="True"')
    return (
        alert(
            "CertManagerDown",
            "warning",
            down,
            "cert-manager is down: no certificate is issued or renewed, and alerts about certificates cannot fire.",
            audience=audience,
        ),
        alert(
            "CertificateNotReady",
            "warning",
            f"{ready} == 0",
            "A Certificate is not issued, or has expired; see its condition Ready.",
            audience=audience,
        ),
        alert(
            NOT_RENEWED,
            "warning",
            f"({renewal} > 0) < time()",
            "A certificate was not renewed at its time of renewal; see the conditions and events of the Certificate.",
            audience=audience,
            hold=_LATE_HOLD,
        ),
        alert(
            NOT_RENEWED,
            "critical",
            f"({expiry} - time()) / ({expiry} - {renewal} > 0) < {_LEFT}",
            "A certificate expires soon and was not renewed; its clients reject connections afterwards.",
            audience=audience,
        ),
    )
