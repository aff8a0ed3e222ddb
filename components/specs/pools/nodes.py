"""Settings of a region for the nodes of all tenants: rollout limits, burn-in, firmware, join of diskless nodes."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import IpAddress, PercentOrCount, QualifiedName, Spec, Text
from components.specs.health.node_tests import NodeTestsSpec
from components.specs.network.node_addresses import NodeAddressesSpec

PINNED_IMAGE = r"^[a-z0-9][-.:/_a-z0-9]*@sha256:[0-9a-f]{64}$"

BURN_IN_PASSED = "BurnInPassed"
"""Condition of Nodes and Machines that the node tests set after a burn-in."""

PinnedImage = Annotated[str, StringConstraints(pattern=PINNED_IMAGE, max_length=512)]
"""Container image with its digest, ``registry.example/name@sha256:...``."""


class FirmwareUpdate(StrEnum):
    """Time of firmware updates of a host, including settings (Metal3's HostUpdatePolicy)."""

    ON_PREPARING = "on-preparing"
    """Firmware is updated before the next image is written, the default of upstream."""
    ON_REBOOT = "on-reboot"
    """Firmware is also updated when a host in use is rebooted. Drain the host before the reboot."""


class Windows(StrEnum):
    """Effect of tenants' windows on rollouts and on repairs of idle nodes."""

    ANNOTATE = "annotate"
    """Windows are recorded as annotations for operators; running rollouts continue."""
    ENFORCE = "enforce"
    """Windows pause rollouts, by jobs of the management cluster (``docs/pools/rollouts.md``). Idle nodes with soft
    faults are repaired only within the window, and not during freezes. Hard faults are repaired at any time."""


class RolloutLimitsSpec(Spec):
    """Limits on unavailable nodes for the sum of all rollouts. Limits that are not set do not apply."""

    max_unavailable_per_pool: PercentOrCount | None = None
    """Maximum number of unavailable nodes in a pool, as the sum over all rollout groups that are promoted together."""
    max_unavailable_per_fabric: PercentOrCount | None = None
    """Maximum number of unavailable nodes on one fabric, as the sum over all tenants."""
    max_rolling_nvlink_domains: int | None = Field(default=None, ge=1, le=500)
    """Maximum number of NVLink domains (rollout groups of rack-scale types) of a pool in a rollout at the same time.
    Jobs that need a whole domain cannot use a domain with a missing node."""


class BurnInSpec(Spec):
    """Controller and condition that confirm the burn-in of new nodes."""

    condition: QualifiedName
    """Condition of the Machine that confirms the burn-in. Pools with burn-in wait until the condition is True."""
    set_by: Text
    """Name of the controller that sets the condition, for operators. Without the controller, every node of a pool with
    burn-in counts as unavailable."""


class JoinServiceSpec(Spec):
    """Service from which diskless nodes request their join data. Metal3 delivers no join data with ``live-iso``."""

    image: PinnedImage
    """Container image of the service, which must implement the contract in ``docs/pools/node-pool.md``. Jacquard does
    not provide one."""
    address: IpAddress
    """Address of the service, in ``networks.management``; it is part of the ISOs."""


class StepDurationsSpec(Spec):
    """Durations of the steps of a node replacement, as measured in the region.

    They are used for estimates (``jacquard impact``) and for the startup timeout of nodes.
    """

    drain_minutes: int = Field(ge=0, le=10_080)
    """Minutes until the pods of a node have finished or are evicted. The pool's ``rollout.drain_timeout_seconds``
    limits this duration."""
    deprovision_minutes: int = Field(ge=1, le=1440)
    """Minutes until a released host is wiped and available."""
    boot_minutes: int = Field(ge=1, le=1440)
    """Minutes until an available host has booted its image."""
    join_minutes: int = Field(ge=1, le=10_080)
    """Minutes until a booted host is a ready Node, including the burn-in by another controller (``burn_in``). The
    burn-in by ``tests`` is added in gated pools."""
    inspect_minutes: int = Field(default=15, ge=1, le=1440)
    """Minutes until a new host is inspected."""
    firmware_minutes: int = Field(default=30, ge=1, le=1440)
    """Minutes until BMC and BIOS of a host have other firmware."""
    dpu_minutes: int = Field(default=30, ge=1, le=1440)
    """Minutes until the image of a DPU is installed."""


class NodesSpec(Spec):
    """Rollout, tests and join of the nodes of a region."""

    rollouts: RolloutLimitsSpec = RolloutLimitsSpec.defaults()
    """Limits on unavailable nodes in the region."""
    windows: Windows = Windows.ANNOTATE
    """Whether windows of tenants pause rollouts and repairs of idle nodes, or are only recorded."""
    burn_in: BurnInSpec | None = None
    """Another controller that confirms the burn-in of new nodes, and its condition; by default ``tests``."""
    tests: NodeTestsSpec | None = None
    """Tests of new and of idle nodes by Jobs of the platform. Without them, pools can use burn-in only with
    ``burn_in``, and idle nodes are not verified."""
    firmware_updates: FirmwareUpdate = FirmwareUpdate.ON_PREPARING
    """Time of firmware updates of hosts, including settings."""
    join_service: JoinServiceSpec | None = None
    """Service from which diskless nodes request their join data. Without it, pools cannot run images with
    ``live-iso``."""
    durations: StepDurationsSpec | None = None
    """Durations of rollout steps in this region. Without them, the duration of changes is unknown."""
    addresses: NodeAddressesSpec | None = None
    """Address assignment of nodes in VPCs on HBN; by default no addresses are allocated. Existing nodes get their
    address at the next promotion."""

    @property
    def gate(self) -> BurnInSpec | None:
        """Return the condition that confirms the burn-in and the controller that sets it; None without either."""
        if self.burn_in is not None or self.tests is None:
            return self.burn_in
        return BurnInSpec(condition=BURN_IN_PASSED, set_by="the node tests")
