"""Observability of a region: receivers of alerts, mail server, watchdog, and storage of metrics and logs."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    Endpoint,
    IpAddress,
    Label,
    Quantity,
    ShortName,
    Spec,
    Text,
)
from components.specs.region.logs import LogStoreSpec
from components.specs.region.store_backups import StoreBackupSpec
from components.specs.region.thresholds import ThresholdSpec

EMAIL = r"^[A-Za-z0-9._%+-]+@[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$"
EmailAddress = Annotated[str, StringConstraints(pattern=EMAIL, max_length=253)]
"""One e-mail address, without a display name."""
REPLICATION_FACTOR = 2
"""Number of storage pods that have each sample."""
MIN_STORAGE_PODS = 2 * REPLICATION_FACTOR - 1
"""Minimum number of storage pods that keep the replication factor while one is down
(VM:docs/victoriametrics/Cluster-VictoriaMetrics.md Replication and data safety)."""
MAX_STORAGE_PODS = 50
"""Maximum number of storage pods that upstream recommends (VM:docs/guides/understand-your-setup-size/README.md)."""
OBJECTIVE = r"^9[5-9](\.[0-9]{1,2})?%$"
Objective = Annotated[str, StringConstraints(pattern=OBJECTIVE)]
"""Objective in percent. Below 95 %, no outage can use the error budget 14.4 times too fast."""
AVAILABILITY, LATENCY = "99.9%", "99%"
"""Default objectives. That for latency is the objective of SIG Scalability for mutating requests."""
_CHANNELS = ("email", "pagerduty_secret", "slack_secret", "webhook_secret")


class Severity(StrEnum):
    """Severity of an alert, the label ``severity``."""

    CRITICAL = "critical"
    """A service of a tenant is down or data are at risk; someone must act immediately."""
    WARNING = "warning"
    """A fault without an outage; someone must act during working hours."""
    INFO = "info"
    """Context for other alerts."""


class ReceiverSpec(CheckedSpec):
    """Receiver of alerts: exactly one channel, and the severities that it gets."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [channel]} for channel in _CHANNELS]})

    name: ShortName
    """Name of the receiver, unique in its list."""
    email: EmailAddress | None = None
    """E-mail address. Requires ``observability.mail`` of the region."""
    pagerduty_secret: DnsLabel | None = None
    """Secret in namespace ``monitoring`` with ``routing-key``, an integration key of PagerDuty's Events API v2."""
    slack_secret: DnsLabel | None = None
    """Secret in namespace ``monitoring`` with ``url``, an incoming webhook of Slack, which determines the channel."""
    webhook_secret: DnsLabel | None = None
    """Secret in namespace ``monitoring`` with ``url``, to which Alertmanager posts alerts as JSON."""
    severities: tuple[Severity, ...] = Field(default=(Severity.CRITICAL, Severity.WARNING), min_length=1)
    """Severities of the alerts that the receiver gets."""

    @property
    def secret(self) -> tuple[str, DnsLabel] | None:
        """Return the field with the Secret of the channel and the name of the Secret; None for e-mail."""
        named = ((field, getattr(self, field)) for field in _CHANNELS[1:])
        return next(((field, secret) for field, secret in named if secret is not None), None)

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a receiver without a channel, or with several."""
        channels = [field for field in _CHANNELS if getattr(self, field) is not None]
        if not channels:
            yield ConstraintViolation(f"has no channel; add one of {', '.join(_CHANNELS)}")
        elif len(channels) > 1:
            yield ConstraintViolation(f"has several channels, {' and '.join(channels)}; list a receiver for each")


class MailServerSpec(CheckedSpec):
    """Mail server for receivers with an e-mail address, over SMTP with STARTTLS."""

    model_config = ConfigDict(
        json_schema_extra={"dependentRequired": {"username": ["password_secret"], "password_secret": ["username"]}}
    )

    server: Endpoint
    """Host and port of the server, such as ``smtp.cloud.example:587``."""
    sender: EmailAddress
    """Sender of the messages."""
    username: Text | None = None
    """User name at the server. By default Alertmanager does not log in."""
    password_secret: DnsLabel | None = None
    """Secret in namespace ``monitoring`` with ``password``; required with ``username``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a user name without a password, or a password without a user name."""
        if (self.username is None) != (self.password_secret is None):
            missing, present = ("username", "password_secret")[:: 1 if self.username is None else -1]
            yield ConstraintViolation(f"is required with {present}; add it, or remove {present}", (missing,))


class WatchdogSpec(Spec):
    """Dead man's switch: a service that alerts if it no longer gets the alert ``Watchdog``, which always fires."""

    webhook_secret: DnsLabel
    """Secret in namespace ``monitoring`` with ``url``, the address of the service."""
    interval_minutes: int = Field(default=5, ge=1, le=60)
    """Minutes between two messages. The service must wait longer before it alerts."""


class MetricsStoreSpec(CheckedSpec):
    """Storage of metrics in the management cluster, and the store of the metrics of all clusters."""

    model_config = ConfigDict(
        json_schema_extra={"dependentRequired": {"storage_pods": ["address"], "backup": ["address"]}}
    )

    size: Quantity
    """Size of each volume: of two replicas of Prometheus, which delete older metrics if they take more than 80 % of it,
    and of each storage pod of the store."""
    storage_class: Label
    """Storage class of the management cluster for the volumes."""
    retention_days: int = Field(default=30, ge=1, le=3650)
    """Days after which metrics are deleted."""
    address: IpAddress | None = None
    """Address of the store, in ``networks.control_plane_vips``. Every VPC reaches it, also with ``egress: none``, and
    every cluster writes its metrics to it. By default there is no store, and only clusters with an add-on for
    monitoring have metrics."""
    storage_pods: int = Field(default=MIN_STORAGE_PODS, ge=MIN_STORAGE_PODS, le=MAX_STORAGE_PODS)
    """Number of storage pods of the store. Each sample is on two of them, so that the store survives a node."""
    backup: StoreBackupSpec | None = None
    """Backup of the store to a bucket; requires ``address``. By default metrics are lost with the volumes of two
    storage pods."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a number of storage pods, or a backup, without a store."""
        for field in ("storage_pods", "backup"):
            if field in self.model_fields_set and self.address is None:
                text = f"is required with {field}; add an address of networks.control_plane_vips, or remove {field}"
                yield ConstraintViolation(text, ("address",))


class SloSpec(Spec):
    """Objective that differs from the default, and the reason."""

    objective: Objective
    """Percentage of requests that must be good, over 30 days, such as 99.95%."""
    reason: Text
    """Reason for the objective, for operators, such as a contract."""


class SlosSpec(Spec):
    """Service level objectives (SLOs) of the API servers of all control planes, over 30 days.

    Alerts fire if the error budget, the remaining percentage, is used too fast.
    """

    availability: SloSpec | None = None
    """Requests that do not fail with a server error; outages count as failures. By default 99.9 %."""
    latency: SloSpec | None = None
    """Mutating requests that take at most one second. By default 99 %."""

    @property
    def of_availability(self) -> Objective:
        """Return the objective for availability."""
        return self.availability.objective if self.availability else AVAILABILITY

    @property
    def of_latency(self) -> Objective:
        """Return the objective for latency."""
        return self.latency.objective if self.latency else LATENCY


class ObservabilitySpec(CheckedSpec):
    """Observability of a region: what is stored, and who gets alerts."""

    receivers: tuple[ReceiverSpec, ...] = Field(min_length=1)
    """Receivers of the operators, who get the alerts of all tenants."""
    mail: MailServerSpec | None = None
    """Mail server; required if a receiver has an e-mail address."""
    watchdog: WatchdogSpec | None = None
    """Dead man's switch of the monitoring. By default an outage of the monitoring is not noticed."""
    metrics: MetricsStoreSpec | None = None
    """Storage of metrics and of the state of alerts. By default both are lost when their pods restart, and metrics
    are kept for ten days."""
    logs: LogStoreSpec | None = None
    """Store of the logs of all clusters, which is reached at the address of the store of metrics. By default logs stay
    on their nodes, and are lost with them."""
    slos: SlosSpec = SlosSpec.defaults()
    """Service level objectives of control planes."""
    thresholds: tuple[ThresholdSpec, ...] = ()
    """Thresholds of alerts that differ from the defaults, each with a reason."""

    @property
    def store(self) -> MetricsStoreSpec | None:
        """Return the store of the metrics of all clusters; None without one."""
        return self.metrics if self.metrics and self.metrics.address else None

    @property
    def backups(self) -> dict[str, StoreBackupSpec]:
        """Return the backups of stores, by the field of the store."""
        every = {"metrics": self.store and self.store.backup, "logs": self.logs and self.logs.backup}
        return {field: backup for field, backup in every.items() if backup}

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield receivers that require a mail server, a store of logs without an address, and repeated thresholds."""
        for index, receiver in enumerate(self.receivers):
            if receiver.email and self.mail is None:
                text = "requires a mail server; add observability.mail with server and sender"
                yield ConstraintViolation(text, ("receivers", index, "email"), receiver.email)
        if self.logs is not None and self.store is None:
            text = "is required with logs, which clusters write to the same address; add it, or remove logs"
            yield ConstraintViolation(text, ("metrics", "address"))
        known: set[str] = set()
        for index, threshold in enumerate(self.thresholds):
            if threshold.alert in known:
                text = "has a threshold already; remove one of the two"
                yield ConstraintViolation(text, ("thresholds", index, "alert"), threshold.alert.value)
            known.add(threshold.alert)
