"""Checks of nodes: the fault that each one detects, and the action that follows."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, DataFile, Label, Spec, Text

CamelCase = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]{1,62}$")]
"""Type of a Node condition, or reason of an event."""
_LEAST_HOLD, _MOST_HOLD = 60, 86_400


class HealthAction(StrEnum):
    """Action on a node with a fault, from the mildest to the hardest."""

    NOTIFY = "notify"
    """An alert and an event. The node stays in use."""
    QUARANTINE = "quarantine"
    """New pods are not scheduled on the node. Running jobs continue, and the node stays as it is until the fault is
    gone or the host is taken out of service."""
    REPAIR = "repair"
    """Pods are evicted. If the fault lasts for ``hold_seconds``, the host is rebooted, and the node is replaced if the
    reboot does not remove the fault. The limit on unhealthy nodes of the rollout group applies."""


class Detector(StrEnum):
    """Part of a cluster that detects a fault."""

    KERNEL_LOG = "kernel-log"
    """node-problem-detector, which compares lines of the kernel log with ``pattern``."""
    DEVICES = "devices"
    """Node Feature Discovery, which counts PCI devices and taints nodes unlike the instance types of their cluster."""
    METRICS = "metrics"
    """Prometheus of the cluster, which evaluates ``expression``. The check can only notify."""
    NODE_TESTS = "node-tests"
    """Tests of idle nodes, which set ``condition``."""


_DETECTION = ("reason", "pattern", "expression")
_REQUIRED: Mapping[Detector, tuple[str, ...]] = {
    Detector.KERNEL_LOG: ("reason", "pattern"),
    Detector.DEVICES: ("expression",),
    Detector.METRICS: ("expression",),
    Detector.NODE_TESTS: ("condition",),
}
"""Fields of a check that its detector requires."""


class Part(StrEnum):
    """Hardware that a node must have for a check to apply."""

    ANY = "any"
    """Every node."""
    GPU = "gpu"
    """Nodes with GPUs."""
    NVLINK = "nvlink"
    """Nodes with GPUs that NVSwitches of the node or of the rack connect."""
    NVSWITCH = "nvswitch"
    """Nodes with NVSwitches of their own."""
    FABRIC = "fabric"
    """Nodes with GPUs and ports of an InfiniBand or RoCE fabric."""


class NodeCheck(CheckedSpec):
    """Check of the library for one kind of fault, with its default action."""

    name: Label
    """Name of the check, referenced by ``health_overrides``."""
    part: Part
    """Hardware that a node must have for the check to apply."""
    summary: Text
    """Fault and its consequence, for alerts."""
    source: Text
    """Source of the pattern and of the default action."""
    action: HealthAction
    """Action on a node with the fault."""
    when_idle: HealthAction | None = None
    """Action on a quarantined node that runs only pods of DaemonSets, in clusters with node tests; only ``repair``."""
    detector: Detector = Detector.KERNEL_LOG
    """Part of the cluster that detects the fault."""
    condition: CamelCase | None = None
    """Condition of the Node that is True while the fault lasts. Checks of the kernel log without a condition count
    events only."""
    reason: CamelCase | None = None
    """Reason of the condition or event; only for the kernel log, which requires one."""
    pattern: str | None = Field(default=None, min_length=8, max_length=512)
    """Regular expression (RE2) for the kernel log. It must match up to the end of the line
    (NPD:pkg/systemlogmonitor/log_buffer.go)."""
    expression: str | None = Field(default=None, min_length=8, max_length=512)
    """PromQL expression with a result for each fault, for the alert; for metrics and devices."""
    upstream: bool = False
    """Whether node-problem-detector's own monitors have the rule, so that none is rendered."""
    requested: bool = False
    """Whether a person writes the line to the kernel log of a node to request its reboot. Such a reboot is not counted
    as a repair, and the check is omitted where it would not reboot the host."""
    hold_seconds: int = Field(default=600, ge=_LEAST_HOLD, le=_MOST_HOLD)
    """Seconds that the fault must last before a repair starts; for alerts on events, the interval of the count; for
    checks of metrics, the seconds before the alert."""
    threshold: int = Field(default=1, ge=1, le=10_000)
    """Number of events within ``hold_seconds`` that raise an alert; only for checks without a condition."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an impossible action, fields of another detector, and a pattern that is no regular expression."""
        if self.action not in self.actions:
            yield ConstraintViolation("requires a condition", ("action",), str(self.action))
        if self.when_idle and (self.action, self.when_idle) != (HealthAction.QUARANTINE, HealthAction.REPAIR):
            yield ConstraintViolation("can only repair a node after a quarantine", ("when_idle",), str(self.when_idle))
        if self.requested and HealthAction.REPAIR not in {self.action, self.when_idle}:
            yield ConstraintViolation("requires repair as action or when_idle", ("requested",), "true")
        required = _REQUIRED[self.detector]
        missing = [name for name in required if getattr(self, name) is None]
        if missing or any(getattr(self, name) for name in _DETECTION if name not in required):
            text = f"requires {' and '.join(required)}, and no field of another detector"
            yield ConstraintViolation(text, ("detector",), str(self.detector))
        try:
            re.compile(self.pattern or "")
        except re.error as error:
            yield ConstraintViolation(f"is not a regular expression: {error}", ("pattern",), self.pattern)

    @property
    def actions(self) -> tuple[HealthAction, ...]:
        """Return the possible actions: all with a condition, otherwise those that need none."""
        if self.condition is not None:
            return tuple(HealthAction)
        tainting = (HealthAction.QUARANTINE,) if self.detector is Detector.DEVICES else ()
        return (HealthAction.NOTIFY, *tainting)


class HealthOverride(CheckedSpec):
    """Deviation from the default of a check, for some or all instance types."""

    check: Label
    """Name of the check; ``jacquard show ENV health`` lists all checks."""
    instance_types: tuple[Label, ...] = ()
    """Instance types with the deviation; all by default."""
    action: HealthAction | None = None
    """Action instead of the default one."""
    hold_seconds: int | None = Field(default=None, ge=_LEAST_HOLD, le=_MOST_HOLD)
    """Seconds that the fault must last before a repair starts, instead of the default."""
    reason: Text
    """Reason for the deviation, for operators."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an override that changes nothing."""
        if self.action is None and self.hold_seconds is None:
            yield ConstraintViolation("changes nothing; write action, hold_seconds or both", ("check",), self.check)


class RepairLimit(Spec):
    """Limit of repairs of a host, for some or all instance types.

    The repair that exceeds it replaces the node by a spare, because earlier ones did not last. The default is that of
    NVIDIA's NVSentinel: a second repair within seven days (NVSentinel:docs/health-events-analyzer.md, rule
    MultipleRemediations).
    """

    instance_types: tuple[Label, ...] = ()
    """Instance types with the limit. Without them, the limit applies to all types without a limit of their own."""
    repairs: int = Field(default=1, ge=1, le=10)
    """Repairs by reboot of a host within ``within_hours`` after which its node stays in use."""
    within_hours: int = Field(default=168, ge=1, le=720)
    """Hours during which repairs of a host are counted."""
    reason: Text
    """Reason for the deviation from the default, for operators."""


class HealthCatalog(DataFile):
    """``catalog/health.yaml``, an optional file. Without it, all checks have the library's defaults."""

    health_overrides: tuple[HealthOverride, ...] = ()
    """Deviations from the library's checks, each with a reason. For one check and instance type there is at most one
    deviation."""
    repair_limits: tuple[RepairLimit, ...] = ()
    """Deviations from the default limit of repairs, each with a reason. At most one for each instance type, and one
    without instance types."""
