"""unmatched-monitor: a monitor that selects no Service, no pod, or no port.

Why: prometheus-operator accepts such a monitor, and Prometheus then collects no metrics of the component. Alerts on
these metrics never fire.

Rejected: a ServiceMonitor with `matchLabels: {app: x}` in a namespace without a Service with this label.
Rejected: an endpoint with `port: metrics` of a Service whose ports have other names.
Correct: the labels and a port of a rendered Service, or of the pods of a rendered workload.
Correct: the labels of the pods of ExternalDNS, External Secrets Operator or an etcd, which the library records.
Not evaluated: monitors in the engine, which evaluates one object at a time, and monitors in charts.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from components.lookups.monitor_targets import POD_MONITOR, SERVICE_MONITOR, Target
from components.rules.rule import AdvisoryPeriod
from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact, contains_unknown
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

_ENDPOINTS = {SERVICE_MONITOR: "endpoints", POD_MONITOR: "podMetricsEndpoints"}
_ALLOWED = "a selector and ports of at least one rendered Service or pod"


def find(fact: Fact, context: Context) -> Finding:
    """Compare the selector and the ports of a monitor with the rendered Services and pods."""
    if context.targets is None:
        return NOT_APPLICABLE
    kind, namespace, spec = str(fact.kind), fact.at("metadata", "namespace"), fact.at("spec")
    if namespace is UNKNOWN or contains_unknown(spec):
        return undecided("the selector")
    selected = [entry for entry in context.targets if entry.is_selected(kind, fact.cluster, namespace, spec)]
    if not selected:
        return violation(
            found=f"selects nothing: {_selector(spec)}; {_labels(kind, fact.cluster, namespace, context.targets)}",
            allowed=_ALLOWED,
            fix="write labels that the Service or the pods have",
        )
    ports = [str(entry["port"]) for entry in spec.get(_ENDPOINTS[kind]) or () if "port" in entry]
    known = {port for entry in selected for port in entry.ports}
    if missing := [port for port in ports if port not in known]:
        return violation(
            found=f"no selected object has the port {', '.join(missing)}; ports there: {listed(sorted(known))}",
            allowed=_ALLOWED,
            fix="write the name of a port of the Service or of a container",
        )
    return PASS


def _selector(spec: Mapping[str, Any]) -> str:
    selector = spec["selector"]
    exact = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    return ", ".join([*exact, *_expressions(selector.get("matchExpressions") or ())])


def _expressions(entries: Any) -> Iterator[str]:
    for entry in entries:
        values = f" ({', '.join(entry['values'])})" if entry.get("values") else ""
        yield f"{entry['key']} {entry['operator']}{values}"


def _labels(kind: str, cluster: str, namespace: str, targets: tuple[Target, ...]) -> str:
    """Return the labels of the objects that the monitor could select in its namespace."""
    wanted = "Service" if kind == SERVICE_MONITOR else "Pod"
    there = [
        " ".join(f"{key}={value}" for key, value in entry.labels.items()) or "no labels"
        for entry in targets
        if (entry.kind, entry.cluster, entry.namespace) == (wanted, cluster, namespace)
    ]
    what = "Services" if kind == SERVICE_MONITOR else "pods"
    return f"labels of {what} in {namespace}: {listed(there)}" if there else f"{namespace} has no {what}"


RULE = Rule(
    name=RuleId.UNMATCHED_MONITOR,
    description="Each monitor selects a Service or pods, and their ports.",
    why="a monitor that selects nothing collects no metrics, and alerts on them never fire",
    severity=Severity.HIGH,
    kinds=frozenset({SERVICE_MONITOR, POD_MONITOR}),
    find=find,
    advisory_period=AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)),
)
