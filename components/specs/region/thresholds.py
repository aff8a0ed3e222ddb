"""Thresholds of alerts that operators tune: defaults, units and bounds, and values of a region with their reasons."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, Text
from components.specs.struct import Struct, field


class TunableAlert(StrEnum):
    """Alert whose threshold a region can change."""

    CONTROL_PLANE_FAILS = "ControlPlaneFails"
    """Share of API requests that fail with a server error."""
    ETCD_NEARLY_FULL = "EtcdNearlyFull"
    """Share of etcd's quota in use."""
    NAMES_OLD = "NamesOld"
    """Time without a successful synchronization of DNS records."""
    DPU_RELEASE_STUCK = "DpuReleaseStuck"
    """Time without a successful run of the release of DPUs."""
    APPLY_OLD = "ApplyOld"
    """Time without a successful run of ``jacquard up``."""
    CONTROLLER_FAILS = "ControllerFails"
    """Share of failed reconciliations of a controller within an hour."""
    CONTROLLER_STUCK = "ControllerStuck"
    """Time that a controller works on one object."""
    METRICS_STORE_NEARLY_FULL = "MetricsStoreNearlyFull"
    """Free share of a volume of the store of metrics."""
    LOG_STORE_NEARLY_FULL = "LogStoreNearlyFull"
    """Free share of a volume of the store of logs."""
    LOAD_BALANCER_ADDRESSES_SHORT = "LoadBalancerAddressesShort"
    """Share of the addresses of a pool of MetalLB in use."""


class Threshold(Struct):
    """Default threshold of an alert, and its bounds."""

    default: int
    """Threshold without a value of the region, in ``unit``."""
    minimum: int
    """Lowest value of a region."""
    maximum: int
    """Highest value of a region."""
    unit: str
    """Unit of the value: ``%``, ``% free``, ``min`` or ``days``."""
    source: str
    """Reason for the default or the bounds, with the source in upstream's code."""


THRESHOLDS: Mapping[TunableAlert, Threshold] = {
    TunableAlert.CONTROL_PLANE_FAILS: Threshold(
        default=5, minimum=1, maximum=50, unit="%", source="higher than the error budget of an hour, see slos"
    ),
    TunableAlert.ETCD_NEARLY_FULL: Threshold(
        default=80,
        minimum=50,
        maximum=95,
        unit="%",
        source="below 95 % of etcdDatabaseQuotaLowSpace, ETCD:contrib/mixin",
    ),
    TunableAlert.NAMES_OLD: Threshold(
        default=15, minimum=10, maximum=1440, unit="min", source="three intervals of ExternalDNS, each 5 min"
    ),
    TunableAlert.DPU_RELEASE_STUCK: Threshold(
        default=30, minimum=10, maximum=1440, unit="min", source="the job starts every two minutes"
    ),
    TunableAlert.APPLY_OLD: Threshold(
        default=7, minimum=1, maximum=90, unit="days", source="a week in which the region may differ from the data"
    ),
    TunableAlert.CONTROLLER_FAILS: Threshold(
        default=50,
        minimum=5,
        maximum=95,
        unit="%",
        source="a failed object is repeated, client-go:util/workqueue",
    ),
    TunableAlert.CONTROLLER_STUCK: Threshold(
        default=60, minimum=10, maximum=1440, unit="min", source="longer than any step of a controller"
    ),
    TunableAlert.METRICS_STORE_NEARLY_FULL: Threshold(
        default=20, minimum=5, maximum=50, unit="% free", source="VM:docs/victoriametrics/README.md Capacity planning"
    ),
    TunableAlert.LOG_STORE_NEARLY_FULL: Threshold(
        default=20, minimum=11, maximum=50, unit="% free", source="the store deletes the oldest logs at 10 % free"
    ),
    TunableAlert.LOAD_BALANCER_ADDRESSES_SHORT: Threshold(
        default=90, minimum=50, maximum=99, unit="%", source="a pool of 16 addresses then has one left"
    ),
}
"""Threshold of each alert that a region can change."""


class Thresholds(Struct):
    """Thresholds of a region."""

    changed: Mapping[TunableAlert, int] = field(default_factory=dict)
    """Values that differ from the defaults, in the units of `THRESHOLDS`."""

    def of(self, alert: TunableAlert) -> int:
        """Return the threshold of ``alert`` in its unit."""
        return self.changed.get(alert, THRESHOLDS[alert].default)


class ThresholdSpec(CheckedSpec):
    """Threshold of an alert that differs from the default, and the reason."""

    alert: TunableAlert
    """Name of the alert."""
    value: int = Field(ge=1, le=1440)
    """Threshold, in the unit of the alert (``docs/region/observability.md``)."""
    reason: Text
    """Reason for the threshold, for operators."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a value outside the bounds of the alert."""
        limit = THRESHOLDS[self.alert]
        if not limit.minimum <= self.value <= limit.maximum:
            nearest = min(max(self.value, limit.minimum), limit.maximum)
            text = f"must be {limit.minimum} to {limit.maximum} ({limit.unit}) for {self.alert}; write {nearest}"
            yield ConstraintViolation(text, ("value",), self.value)
