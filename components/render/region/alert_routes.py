"""Alertmanager of the management cluster: receivers, routes and inhibition, as values of kube-prometheus-stack.

The configuration is complete and contains no credential: each ``*_file`` is a key of a Secret that prometheus-operator
mounts (``alertmanagerSpec.secrets``, PO:pkg/alertmanager/operator.go). The operator parses the configuration with
Alertmanager's code (PO:pkg/alertmanager/amcfg.go alertmanagerConfigFromBytes).

Each alert of Jacquard has the label ``audience``. Operators get all alerts. A tenant gets the alerts with
``audience: tenant`` whose label ``tenant`` is its name. Only rules of the platform set these labels, from names in the
data and from labels of Cluster API's objects.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render.objects import given
from components.render.region.monitors import (
    AVAILABILITY_BURN,
    CONTROL_PLANE_DOWN,
    CONTROL_PLANE_FAILS,
    CONTROL_PLANE_SLOW,
    CONTROL_PLANE_WAS_DOWN,
    LATENCY_BURN,
    METRICS_MISSING,
    NODE_FAULT,
    Audience,
)
from components.render.region.platform_objects import (
    CLUSTER_NOT_AVAILABLE,
    GROUP_NOT_AVAILABLE,
    NODE_UNHEALTHY,
    ROLLOUT_IN_PROGRESS,
)
from components.specs.base import bytes_of
from components.specs.region.observability import (
    MailServerSpec,
    MetricsStoreSpec,
    ObservabilitySpec,
    ReceiverSpec,
    WatchdogSpec,
)

Tenants = Mapping[str, tuple[ReceiverSpec, ...]]
"""Receivers of each tenant, by tenant."""
MOUNTS = "/etc/alertmanager/secrets"
"""Directory with one directory for each of ``alertmanagerSpec.secrets``, which has a file for each key."""
OPERATORS = "operators"
"""Prefix of the names of the operators' receivers."""
WATCHDOG = "watchdog"
_NOBODY = "null"
"""Receiver without a channel, for alerts that no route selects: those without a severity that a receiver gets."""
_FULL_PERCENT = 80
"""Share of the volume that metrics may take; Prometheus also writes its log and compacts blocks there."""
REPLICAS = 2
_STATE_SIZE = "1Gi"
"""Volume of Alertmanager for silences and the log of notifications."""
_MESSAGE = "{{ range .Alerts }}{{ .Annotations.summary }} {{ .Annotations.runbook_url }}\n{{ end }}"
"""Text of a Slack message, which is empty by default (AM:config/notifiers.go DefaultSlackConfig)."""
_CHANNELS = {
    "pagerduty_secret": ("pagerduty_configs", "routing_key_file", "routing-key", {}),
    "slack_secret": ("slack_configs", "api_url_file", "url", {"text": _MESSAGE}),
    "webhook_secret": ("webhook_configs", "url_file", "url", {}),
}
"""List of the receiver, field with the file, key of the Secret and further fields, by field of the spec."""
_EQUAL = ["tenant", "cluster"]
_CRITICAL = 'severity = "critical"'
AGENTS_DOWN = ".+AgentsDown"
"""Names of the alerts about DaemonSets whose pods do not run on some nodes."""


def values(spec: ObservabilitySpec | None, tenants: Tenants) -> dict[str, Any]:
    """Return the values ``alertmanager`` and ``prometheus.prometheusSpec`` for ``spec``; empty without one."""
    if spec is None:
        return {}
    alertmanager = {
        "replicas": REPLICAS,
        **given(secrets=sorted(_secrets(spec, tenants)), storage=spec.metrics and _volume(spec.metrics, _STATE_SIZE)),
    }
    return {
        "alertmanager": {"config": configuration(spec, tenants), "alertmanagerSpec": alertmanager},
        "prometheus": {"prometheusSpec": _stored(spec.metrics) if spec.metrics else {}},
    }


def configuration(spec: ObservabilitySpec, tenants: Tenants) -> dict[str, Any]:
    """Return the configuration of Alertmanager, without the fields that keep the chart's defaults."""
    return {
        **given(**{"global": spec.mail and _mail(spec.mail)}),
        "route": {
            "receiver": _NOBODY,
            "group_by": ["alertname", "region", *_EQUAL],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": [*_routes(spec, tenants)],
        },
        "inhibit_rules": [*_inhibitions()],
        "receivers": [{"name": _NOBODY}, *_receivers(spec, tenants)],
    }


def receiver_name(owner: str, receiver: ReceiverSpec) -> str:
    """Return the name of a receiver in Alertmanager. ``owner`` is `OPERATORS`, or ``tenant/`` and the tenant."""
    return f"{owner}/{receiver.name}"


def of_tenant(tenant: str) -> str:
    """Return the prefix of the names of a tenant's receivers."""
    return f"tenant/{tenant}"


def _routes(spec: ObservabilitySpec, tenants: Tenants) -> Iterator[dict[str, Any]]:
    yield _watchdog_route(spec.watchdog)
    for tenant, receivers in tenants.items():
        matchers = [f'audience = "{Audience.TENANT.value}"', f'tenant = "{tenant}"']
        for receiver in receivers:
            yield _route(of_tenant(tenant), receiver, matchers)
    for receiver in spec.receivers:
        yield _route(OPERATORS, receiver, [])


def _watchdog_route(watchdog: WatchdogSpec | None) -> dict[str, Any]:
    """Return the route of the alert of kube-prometheus-stack that always fires."""
    route = {"receiver": WATCHDOG if watchdog else _NOBODY, "matchers": ['alertname = "Watchdog"']}
    if watchdog is None:
        return route
    interval = f"{watchdog.interval_minutes}m"
    return {**route, "group_wait": "0s", "group_interval": interval, "repeat_interval": interval}


def _route(owner: str, receiver: ReceiverSpec, matchers: Iterable[str]) -> dict[str, Any]:
    severities = "|".join(severity.value for severity in receiver.severities)
    return {
        "receiver": receiver_name(owner, receiver),
        "matchers": [*matchers, f'severity =~ "{severities}"'],
        "continue": True,
    }


def _receivers(spec: ObservabilitySpec, tenants: Tenants) -> Iterator[dict[str, Any]]:
    if spec.watchdog:
        channel = {"url_file": _file(spec.watchdog.webhook_secret, "url"), "send_resolved": False}
        yield {"name": WATCHDOG, "webhook_configs": [channel]}
    for tenant, receivers in tenants.items():
        for receiver in receivers:
            yield {"name": receiver_name(of_tenant(tenant), receiver), **_channel(receiver)}
    for receiver in spec.receivers:
        yield {"name": receiver_name(OPERATORS, receiver), **_channel(receiver)}


def _channel(receiver: ReceiverSpec) -> dict[str, Any]:
    if receiver.secret is None:
        return {"email_configs": [{"to": receiver.email, "send_resolved": True}]}
    field, secret = receiver.secret
    channels, path, key, further = _CHANNELS[field]
    return {channels: [{path: _file(secret, key), "send_resolved": True, **further}]}


def _mail(mail: MailServerSpec) -> dict[str, Any]:
    password = mail.password_secret and _file(mail.password_secret, "password")
    return {
        "smtp_smarthost": mail.server,
        "smtp_from": mail.sender,
        **given(smtp_auth_username=mail.username, smtp_auth_password_file=password),
    }


def _inhibitions() -> Iterator[dict[str, Any]]:
    """Yield rules that keep one alert of several with the same cause."""
    # Of one object: a certificate of one node or Certificate that expires first must not hide those of all others.
    yield _inhibition(_CRITICAL, 'severity =~ "warning|info"', ["namespace", "alertname", "name", "node", *_EQUAL])
    # kube-prometheus-stack's alerts of severity info are sent only next to a more severe alert of their namespace.
    yield _inhibition('alertname = "InfoInhibitor"', 'severity = "info"', ["namespace"])
    consequences = f"{CLUSTER_NOT_AVAILABLE}|{GROUP_NOT_AVAILABLE}|{NODE_UNHEALTHY}|{METRICS_MISSING}"
    yield _inhibition(f'alertname = "{CONTROL_PLANE_DOWN}"', f'alertname =~ "{consequences}|ControlPlane.+"', _EQUAL)
    yield _inhibition(f'alertname = "{AVAILABILITY_BURN}"', f'alertname = "{CONTROL_PLANE_FAILS}"', _EQUAL)
    yield _inhibition(f'alertname = "{LATENCY_BURN}"', f'alertname = "{CONTROL_PLANE_SLOW}"', _EQUAL)
    # The short windows of critical alerts contain an outage that is over.
    past = _inhibition(f'alertname = "{CONTROL_PLANE_WAS_DOWN}"', f'alertname = "{AVAILABILITY_BURN}"', _EQUAL)
    yield {**past, "target_matchers": [*past["target_matchers"], _CRITICAL]}
    # A rollout group is a failure domain, so that a lost rack is one alert.
    yield _inhibition(f'alertname = "{GROUP_NOT_AVAILABLE}"', f'alertname = "{NODE_UNHEALTHY}"', [*_EQUAL, "group"])
    # The fault is the reason why the node fails its health check.
    [(fault, node)] = NODE_FAULT.items()
    yield _inhibition(f'{fault} = "{node}"', f'alertname = "{NODE_UNHEALTHY}"', [*_EQUAL, "node"])
    # Agents of DaemonSets do not run on nodes of a lost rack, and on nodes that a wave reboots or replaces.
    for away in (GROUP_NOT_AVAILABLE, ROLLOUT_IN_PROGRESS):
        yield _inhibition(f'alertname = "{away}"', f'alertname =~ "{AGENTS_DOWN}"', _EQUAL)


def _inhibition(source: str, target: str, equal: list[str]) -> dict[str, Any]:
    return {"source_matchers": [source], "target_matchers": [target], "equal": equal}


def _secrets(spec: ObservabilitySpec, tenants: Tenants) -> set[str]:
    receivers = (*spec.receivers, *(receiver for several in tenants.values() for receiver in several))
    named = {receiver.secret[1] for receiver in receivers if receiver.secret}
    others = (spec.mail and spec.mail.password_secret, spec.watchdog and spec.watchdog.webhook_secret)
    return named | {secret for secret in others if secret}


def _file(secret: str, key: str) -> str:
    return f"{MOUNTS}/{secret}/{key}"


def _stored(metrics: MetricsStoreSpec) -> dict[str, Any]:
    usable = bytes_of(metrics.size) * _FULL_PERCENT // 100
    return {
        "replicas": REPLICAS,
        "retention": f"{metrics.retention_days}d",
        "retentionSize": f"{usable >> 20}MiB",
        "storageSpec": _volume(metrics, metrics.size),
    }


def _volume(metrics: MetricsStoreSpec, size: str) -> dict[str, Any]:
    spec = {
        "storageClassName": metrics.storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    return {"volumeClaimTemplate": {"spec": spec}}
