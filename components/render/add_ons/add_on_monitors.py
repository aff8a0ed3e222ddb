"""Monitoring of add-ons in a tenant cluster with an add-on that provides monitoring.

Prometheus of the management cluster monitors control planes only. Monitors are part of the charts, so that monitors
match the release. Installation of these charts waits for the CRDs. Network add-ons have no monitors, since network
add-ons must not wait for the monitoring. The chart of compute domains has no monitors. The agents of both are monitored
through the DaemonSet metrics of kube-state-metrics.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from components.render.add_ons import gpu_metrics, metrics_writer
from components.render.add_ons.add_on_values import GPU_OPERATOR, METALLB
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.cni import CALICO, CILIUM
from components.render.manifest import Manifest
from components.render.network import kube_ovn
from components.render.pools import compute_domains
from components.render.region import availability, certificates, metrics_monitors, monitors
from components.render.region.logs import collector, forwarder
from components.render.region.monitors import Audience
from components.render.region.operators import CERT_MANAGER
from components.render.storage.storage import STORAGE_BACKENDS
from components.render.workloads import kueue, serving, slurm_alerts, slurm_pool
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.health.node_checks import Detector, HealthAction, NodeCheck
from components.specs.region.thresholds import TunableAlert

_PROMETHEUS = "kube-prometheus-stack"
"""Chart whose ServiceAccount of Prometheus is known."""
_MOST_PREFIX = 26
"""Maximum length of the prefix of object names (PHC:charts/kube-prometheus-stack/templates/_helpers.tpl)."""
_NAME = "platform-add-ons"
_MONITORED = {"serviceMonitor": {"enabled": True}}
_METRICS = {"metrics": {"enabled": True}}
MONITORED: Mapping[str, Callable[[str], dict[str, Any]]] = {
    GPU_OPERATOR: lambda _: {"dcgmExporter": {**_MONITORED, **gpu_metrics.values()}},
    # ServiceMonitors are used because the chart's PodMonitors select a port that MetalLB 0.16.1 does not have. The
    # Prometheus of kube-prometheus-stack has a separate role.
    METALLB: lambda _: {"prometheus": {**_MONITORED, "rbacPrometheus": False}},
    "node-problem-detector": lambda _: {"metrics": {"enabled": True, **_MONITORED}},
    "metrics-server": lambda _: {**_METRICS, **_MONITORED},
    # The labels namespace and name of the series identify the Certificate, not the exporting pod.
    CERT_MANAGER: lambda _: {"prometheus": {"servicemonitor": {"enabled": True, "honorLabels": True}}},
    collector.CHART: lambda _: collector.monitored(),
    kueue.CHART: lambda namespace: {"enablePrometheus": True, "metrics": {"prometheusNamespace": namespace}},
    serving.CHART: lambda _: {"enablePrometheus": True},
}
"""Values that enable the monitors of each chart, as a function of the monitoring namespace."""
_NETWORKS = {
    CILIUM: ("kube-system", "cilium"),
    CALICO: ("calico-system", "calico-node"),
    kube_ovn.CHART: (kube_ovn.NAMESPACE, "kube-ovn-cni"),
}
"""Namespace and DaemonSet of the agents of each network (of Kube-OVN: KUBEOVN:charts/kube-ovn/templates)."""
_SYSTEM = "kube-system"
"""Namespace of CoreDNS."""
_WITH_ALERT = f"cert-manager|.*{serving.CHART}-controller-manager"
"""Deployments that have an alert of their own: CertManagerDown, ServingControllerDown."""
_WEEK = "7d"
_REPAIRED_HOLD = "2m"
"""Time in which Cluster API and kube-state-metrics report that a node without faults is healthy."""
_DRIVERS = "|".join(backend.namespace for backend in STORAGE_BACKENDS.values())
_DETECTORS: Mapping[Capability | None, Detector] = {
    Capability.NODE_PROBLEMS: Detector.KERNEL_LOG,
    Capability.NODE_FEATURES: Detector.DEVICES,
    Capability.NODE_READINESS: Detector.NODE_TESTS,
    Capability.MONITORING: Detector.METRICS,
}
"""Detector of faults by the capability of its add-on."""
_LATE_DAYS, _LAST_DAYS, _DAY_SECONDS = 7, 1, 86400
"""Days that are left of a kubelet's certificate, as in the alerts of kubernetes-monitoring/kubernetes-mixin:alerts."""


def monitoring_of(add_ons: tuple[AddOn, ...]) -> AddOn | None:
    """Return the add-on of ``add_ons`` that provides monitoring; None without such an add-on."""
    return next((entry for entry in add_ons if entry.gives is Capability.MONITORING), None)


def prometheus_account(monitoring: AddOn) -> str | None:
    """Return the ServiceAccount of Prometheus in the namespace of ``monitoring``; None for an unknown chart."""
    if monitoring.chart != _PROMETHEUS:
        return None
    name = monitoring.name if _PROMETHEUS in monitoring.name else f"{monitoring.name}-{_PROMETHEUS}"
    return f"{name[:_MOST_PREFIX].removesuffix('-')}-prometheus"


def alerts(cluster: ClusterFacts, add_ons: tuple[AddOn, ...], installed: Mapping[str, str]) -> Iterator[Manifest]:
    """Yield the alerts on metrics of the add-ons in ``cluster``; none without a monitoring add-on.

    The store of the region evaluates the alerts if the cluster has only an agent.

    Args:
        cluster: properties of the cluster.
        add_ons: add-ons of the cluster.
        installed: namespaces of all charts in the cluster, by chart.
    """
    monitoring = monitoring_of(add_ons)
    if monitoring is None:
        return
    rules = [*_nodes(add_ons, cluster.every_check), *_networks(installed)]
    rules += [
        _down(sorted({_SYSTEM, *installed.values()})),
        *_compute_domains(add_ons),
        *_load_balancers(add_ons, cluster.thresholds.of(TunableAlert.LOAD_BALANCER_ADDRESSES_SHORT)),
        *_certificates(add_ons),
        *_logs(add_ons, cluster.logs),
        _storage(),
        *kueue.alerts(cluster.queues),
        *serving.alerts(add_ons, cluster.endpoints),
        *metrics_writer.sink_alerts(cluster.writer),
    ]
    rules += slurm_alerts.alerts() if any(entry.chart == slurm_pool.CHART for entry in add_ons) else ()
    if cluster.writer is not None and cluster.writer.agent:
        # A complete Prometheus has the chart's own alerts on certificates of kubelets.
        rules += _kubelets()
        yield metrics_monitors.cluster_rules(cluster.tenant, cluster.name, rules)
    else:
        space = monitoring.namespace
        yield monitors.prometheus_rule(_NAME, _NAME, rules, {}, namespace=space, labels={}, there=cluster.name)


def _nodes(add_ons: tuple[AddOn, ...], checks: tuple[NodeCheck, ...]) -> Iterator[dict[str, Any]]:
    detectors = {_DETECTORS.get(entry.gives) for entry in add_ons}
    for check in checks:
        if check.detector not in detectors:
            continue
        repaired = check.action is HealthAction.REPAIR
        severity = "critical" if repaired and not check.requested else "warning"
        name = check.name.title().replace("-", "")
        # For events, hold_seconds is the interval of the count.
        hold = f"{check.hold_seconds}s" if check.condition or check.detector is Detector.METRICS else monitors.HOLD
        entry = _alert(name, severity, _fault(check), check.summary, section="node-faults", hold=hold)
        yield _of_repair(entry) if repaired else entry


def _of_repair(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the alert about a fault for which the node is repaired.

    It is the only alert about the node, so it must not end before NodeUnhealthy.
    """
    return {**entry, "labels": {**entry["labels"], **monitors.NODE_FAULT}, "keep_firing_for": _REPAIRED_HOLD}


def _fault(check: NodeCheck) -> str:
    """Return the expression for a fault: that of the check, a condition that is True, or too many events on a node.

    The metric of events is that of node-problem-detector (NPD:pkg/problemmetrics).
    """
    if check.expression:
        return check.expression
    if check.condition:
        return f'kube_node_status_condition{{condition="{check.condition}",status="true"}} == 1'
    return f'increase(problem_counter{{reason="{check.reason}"}}[{check.hold_seconds}s]) >= {check.threshold}'


def history_query(check: NodeCheck) -> str | None:
    """Return the expression for the number of nodes, by cluster, on which ``check`` would have acted in a week.

    A quarantine acts at once, a repair and an alert after the hold time. None for checks of metrics, whose series are
    not those of nodes.
    """
    if check.condition:
        series = f'kube_node_status_condition{{condition="{check.condition}",status="true"}}'
        held = f"{series}[{_WEEK}]"
        if check.action is not HealthAction.QUARANTINE:
            held = f"min_over_time({series}[{check.hold_seconds}s])[{_WEEK}:1m]"
        return f"count by (cluster) (max_over_time({held}) == 1)"
    if check.detector is Detector.KERNEL_LOG:
        return f"count by (cluster) (count_over_time(({_fault(check)})[{_WEEK}:1m]))"
    return None


def _networks(charts: Iterable[str]) -> Iterator[dict[str, Any]]:
    for namespace, agents in (_NETWORKS[chart] for chart in charts if chart in _NETWORKS):
        missing = availability.missing_agents(f'namespace="{namespace}",daemonset="{agents}"')
        text = "CNI agent not running on some nodes; pods cannot start there."
        yield _alert("NetworkAgentsDown", "warning", missing, text)


def _down(namespaces: list[str]) -> dict[str, Any]:
    """Return the alert for Deployments without a pod in ``namespaces``, those of charts and of Kubernetes."""
    of = f'namespace=~"{"|".join(namespaces)}",deployment!~"{_WITH_ALERT}"'
    text = "No pod of an add-on is available: it does not act on its objects until one is."
    return _alert("AddOnDown", "warning", availability.without_pods(of), text)


def _compute_domains(add_ons: tuple[AddOn, ...]) -> Iterator[dict[str, Any]]:
    for entry in add_ons:
        if entry.chart == compute_domains.CHART:
            agents = f'namespace="{entry.namespace}",daemonset="{compute_domains.AGENTS}"'
            missing = availability.missing_agents(agents)
            text = "Compute domain agent not running on some nodes; pods that claim a channel cannot start there."
            yield _alert("ComputeDomainAgentsDown", "warning", missing, text)


def _load_balancers(add_ons: tuple[AddOn, ...], full_percent: int) -> Iterator[dict[str, Any]]:
    if any(entry.chart == METALLB for entry in add_ons):
        used = "metallb_allocator_addresses_in_use_total / metallb_allocator_addresses_total"
        text = f"More than {full_percent} % of a MetalLB pool is in use; new LoadBalancer Services may get no address."
        yield _alert("LoadBalancerAddressesShort", "warning", f"{used} > {full_percent / 100}", text)


def _certificates(add_ons: tuple[AddOn, ...]) -> Iterator[dict[str, Any]]:
    for entry in add_ons:
        if entry.chart == CERT_MANAGER:
            yield from certificates.cluster_alerts(entry.namespace, entry.name)


def _kubelets() -> Iterator[dict[str, Any]]:
    """Yield the alerts about certificates of kubelets.

    A kubelet renews its certificate after 70 to 90 % of its lifetime, which is a year by default, so that a renewal is
    weeks late (KUBERNETES:staging/src/k8s.io/client-go/util/certificate/certificate_manager.go,
    KUBERNETES:cmd/kube-controller-manager/app/options/csrsigningcontroller.go).
    """
    # Without the name of the metric: Prometheus rejects a result with two alerts for one node, which differ only in it.
    left = 'min without () ({__name__=~"kubelet_certificate_manager_(client|server)_ttl_seconds",job="kubelet"})'
    for severity, days, text in (
        ("warning", _LATE_DAYS, "A kubelet did not renew its certificate"),
        ("critical", _LAST_DAYS, "A kubelet did not renew its certificate, which expires within a day"),
    ):
        summary = f"{text}: the node is not ready once it has expired."
        yield _alert("KubeletCertificateNotRenewed", severity, f"{left} < {days * _DAY_SECONDS}", summary)


def _logs(add_ons: tuple[AddOn, ...], writer: collector.LogsWriter | None) -> Iterator[dict[str, Any]]:
    for entry in add_ons:
        if entry.chart == collector.CHART:
            agents = f'namespace="{entry.namespace}",daemonset="{entry.name}-{collector.CHART}{collector.AGENTS}"'
            missing = availability.missing_agents(agents)
            text = "Log collector not running on some nodes; their logs are not stored until it runs."
            yield _alert("LogAgentsDown", "warning", missing, text)
            failed = f'sum(rate(otelcol_exporter_send_failed_log_records{{exporter!="{collector.SINK}"}}[10m])) > 0'
            text = "The store rejects log records of the cluster, and they are lost."
            yield _alert("LogsNotStored", "warning", failed, text)
            yield from forwarder.alerts(writer, entry.namespace)


def _storage() -> dict[str, Any]:
    missing = availability.missing_agents(f'namespace=~"{_DRIVERS}"')
    text = "CSI node agent not running on some nodes; volumes cannot be mounted there."
    return _alert("StorageAgentsDown", "warning", missing, text)


def _alert(
    name: str, severity: str, expression: str, summary: str, *, section: str = "", hold: str = monitors.HOLD
) -> dict[str, Any]:
    """Return an alert about a tenant's cluster."""
    return monitors.alert(name, severity, expression, summary, audience=Audience.TENANT, section=section, hold=hold)
