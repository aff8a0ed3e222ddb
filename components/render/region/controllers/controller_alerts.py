"""Alerts about the controllers of the management cluster, evaluated by its Prometheus.

Most alerts use the metrics that all controllers have (kubernetes-sigs/controller-runtime:pkg/internal). Deployments
without a pod are reported by kube-state-metrics, so that controllers without metrics have this alert too. It includes
Flux in ``flux-system``, without which no release changes and ReleaseNotReady does not fire.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from components.render.add_ons.flux import NAMESPACE as FLUX
from components.render.manifest import Manifest, ManifestSet
from components.render.providers import Provider
from components.render.region.availability import missing_agents, without_pods
from components.render.region.controllers.controller_metrics import (
    ADDRESSES,
    KAMAJI,
    METAL3,
    SESSIONS,
    SPEAKERS,
    STACKS,
    Controller,
    Installed,
    controllers,
    render,
)
from components.render.region.monitoring import NAMESPACE
from components.render.region.monitors import alert, prometheus_rule
from components.render.region.operators import Operator
from components.specs.region.thresholds import Thresholds, TunableAlert

_NAME = "controllers"
_WITH_ALERT = "cert-manager|external-secrets|v[lm](alert|auth|insert|select)-.*"
"""Deployments that have an alert of their own: CertManagerDown, SecretsOperatorDown, and those of the stores."""
_SCRAPED_HOLD = "15m"
_FAILS_WINDOW, _FAILS_HOLD = "1h", "30m"
"""A controller repeats a failed object after at most 1,000 seconds, so that a window has several attempts
(kubernetes/client-go:util/workqueue/default_rate_limiters.go)."""
_SESSIONS_HOLD = "2m"
_SLICE_WAITS = "120m"
"""Time in which a slice waits for the slices that it needs, and is applied, with a reserve for repeated runs."""
_RENEWED_HOLD = "120m"
"""Kamaji renews a certificate within seconds, 30 days before it expires (KAM:controllers/
certificate_lifecycle_controller.go, `components.render.control_planes.kamaji.RENEWAL`)."""
_NOT_READY_WINDOW = "10m"
"""Metal3 repeats a host after 30 seconds while Ironic is not ready (BMO:internal/controller/metal3.io)."""


def watch(
    operators: Iterable[Operator], providers: Iterable[Provider], thresholds: Thresholds, *, sessions: bool
) -> ManifestSet:
    """Return the collection of the metrics of controllers and the alerts, as a single set.

    Args:
        operators: the operators of the management cluster.
        providers: the providers of Cluster API.
        thresholds: thresholds of the region.
        sessions: whether addresses are announced by BGP.
    """
    charts = [Installed(of=item.chart, release=item.release, namespace=item.namespace) for item in operators]
    others = [Installed(of=item.label, release=item.label, namespace=item.namespace) for item in providers]
    installed = [item for item in (*charts, *others) if item.namespace != NAMESPACE]
    found = controllers(installed)
    items = (*render(found, NAMESPACE), _rules(found, installed, thresholds, sessions=sessions))
    members = {f"{item.namespace}/{item.kind}/{item.name}": item for item in items}
    return ManifestSet(name=_NAME, namespace=NAMESPACE, members=members)


def _rules(
    found: Iterable[Controller], installed: Iterable[Installed], thresholds: Thresholds, *, sessions: bool
) -> Manifest:
    jobs = {controller.pods.job: controller.installed.namespace for controller in found}
    alerts = [
        _down(sorted({FLUX, *(item.namespace for item in installed)})),
        *_of_all(sorted(jobs), thresholds),
        *(_addresses(jobs[ADDRESSES]) if ADDRESSES in jobs else ()),
        *(_sessions() if sessions else ()),
        *((_ironic(),) if METAL3 in jobs else ()),
        *((_certificates(),) if KAMAJI in jobs else ()),
        *(_slices() if STACKS in jobs else ()),
    ]
    return prometheus_rule(_NAME, _NAME, alerts, {}, namespace=NAMESPACE, labels={})


def _down(namespaces: list[str]) -> dict[str, Any]:
    of = f'namespace=~"{"|".join(namespaces)}",deployment!~"{_WITH_ALERT}"'
    return alert(
        "ControllerDown",
        "warning",
        without_pods(of),
        "No pod of a controller of the management cluster is available: its objects are not reconciled.",
    )


def _of_all(jobs: list[str], thresholds: Thresholds) -> Iterator[dict[str, Any]]:
    limit, stuck = thresholds.of(TunableAlert.CONTROLLER_FAILS), thresholds.of(TunableAlert.CONTROLLER_STUCK)
    yield alert(
        "ControllerMetricsMissing",
        "warning",
        f'up{{job=~"{"|".join(jobs)}"}} == 0',
        "Prometheus cannot read the metrics of a controller, and other alerts about the controller do not fire.",
        hold=_SCRAPED_HOLD,
    )
    failed, every = (
        f"sum by (job, namespace, controller) (increase(controller_runtime_reconcile_total{matcher}[{_FAILS_WINDOW}]))"
        for matcher in ('{result="error"}', "")
    )
    yield alert(
        "ControllerFails",
        "warning",
        f"{failed} / {every} > {limit / 100}",
        f"More than {limit} % of the reconciliations of a controller failed within the last hour; see its log.",
        hold=_FAILS_HOLD,
    )
    yield alert(
        "ControllerStuck",
        "warning",
        # Queues of Kubernetes' own controllers have the same metric without this label.
        f'workqueue_longest_running_processor_seconds{{controller!=""}} > {stuck * 60}',
        f"A controller has worked on one object for more than {stuck} min; others may wait for it.",
    )


def _addresses(namespace: str) -> Iterator[dict[str, Any]]:
    yield alert(
        "AddressAgentsDown",
        "warning",
        missing_agents(f'namespace="{namespace}"'),
        "Speakers or routers of MetalLB are missing on ready nodes, which do not announce addresses of control planes.",
    )
    yield alert(
        "AddressConfigurationStale",
        "warning",
        f'metallb_k8s_client_config_stale_bool{{job=~"{ADDRESSES}|{SPEAKERS}"}} == 1',
        "MetalLB rejects its configuration and uses the former one: changes of addresses and peers have no effect.",
    )


def _sessions() -> Iterator[dict[str, Any]]:
    session = f'frrk8s_bgp_session_up{{job="{SESSIONS}"}}'
    yield alert(
        "BgpSessionDown",
        "warning",
        f"{session} == 0",
        "A BGP session between a node of the management cluster and a router is down.",
    )
    yield alert(
        "BgpSessionDown",
        "critical",
        f"max({session}) == 0",
        "No node of the management cluster announces addresses: the API servers of all clusters are unreachable.",
        hold=_SESSIONS_HOLD,
    )


def _ironic() -> dict[str, Any]:
    retries = f'increase(metal3_provisioner_not_ready_total{{job="{METAL3}"}}[{_NOT_READY_WINDOW}])'
    return alert(
        "IronicNotReady",
        "warning",
        f"sum by (namespace) ({retries}) > 0",
        "Ironic is not ready for the operator in this namespace: hosts are neither inspected, provisioned nor wiped.",
    )


def _certificates() -> dict[str, Any]:
    due = f'kamaji_certificates_current{{job="{KAMAJI}",status=~"expiring|invalid"}}'
    return alert(
        "ControlPlaneCertificateNotRenewed",
        "critical",
        f"sum by (tcp_namespace, tcp_name) ({due}) > 0",
        "Kamaji did not renew a certificate of a control plane, which expires within 30 days or cannot be read.",
        hold=_RENEWED_HOLD,
    )


def _slices() -> Iterator[dict[str, Any]]:
    # Gauges of the operator are set by runs only, so that a slice whose pod does not start has none or an earlier value
    # (PKO:operator/internal/controller/pulumi/metrics_stack.go, updateStackFailureMetrics).
    yield alert(
        "SliceNotApplied",
        "warning",
        'max by (name) (pulumi_stack_info{stalled="True"}) == 1',
        "The operator has given up a slice, and the change of its commit is not or only partly applied; see its Stack.",
    )
    yield alert(
        "SliceWaits",
        "warning",
        'max by (name) (pulumi_stack_info{ready!="True"}) == 1',
        "A slice has not been applied for two hours; see the condition Reconciling of its Stack, and its pod.",
        hold=_SLICE_WAITS,
    )
