"""Settings of a region for the nodes of all tenants: rollout limits, burn-in, firmware, join of diskless nodes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import IpAddress, PercentOrCount, QualifiedName, Spec, Text
from components.specs.network.node_addresses import NodeAddressesSpec

PINNED_IMAGE = r"^[a-z0-9][-.:/_a-z0-9]*@sha256:[0-9a-f]{64}$"

PinnedImage = Annotated[str, StringConstraints(pattern=PINNED_IMAGE, max_length=512)]
"""Container image with its digest, ``registry.example/name@sha256:...``."""


class FirmwareUpdate(StrEnum):
    """Time at which a host gets new firmware settings and versions (Metal3's HostUpdatePolicy)."""

    ON_PREPARING = "on-preparing"
    """A host gets firmware before its next image is written, the default of upstream."""
    ON_REBOOT = "on-reboot"
    """A host also gets firmware when it is rebooted while in use. Drain it before the reboot."""


class Windows(StrEnum):
    """Effect of tenants' windows on rollouts."""

    ANNOTATE = "annotate"
    """Windows are recorded as annotations for operators; running rollouts continue."""
    ENFORCE = "enforce"
    """Windows pause rollouts, by jobs of the management cluster. Nodes are repaired at any time
    (``docs/pools/rollouts.md``)."""


class RolloutLimitsSpec(Spec):
    """Limits on unavailable nodes for all rollouts together. A limit that is not set does not apply."""

    max_unavailable_per_pool: PercentOrCount | None = None
    """Maximum number of unavailable nodes in a pool, over all rollout groups that are promoted together."""
    max_unavailable_per_fabric: PercentOrCount | None = None
    """Maximum number of unavailable nodes on one fabric, over all tenants."""
    max_rolling_nvlink_domains: int | None = Field(default=None, ge=1, le=500)
    """Maximum number of NVLink domains (rollout groups of rack-scale types) of a pool in a rollout at the same time.
    Jobs that need a whole domain cannot use one that lacks a node."""


class BurnInSpec(Spec):
    """Controller and condition that confirm the burn-in of new nodes."""

    condition: QualifiedName
    """Condition of the Machine that confirms the burn-in. Pools with burn-in wait until it is True."""
    set_by: Text
    """Name of the controller that sets the condition, for operators. Without the controller, every node of such a pool
    counts as unavailable."""


class JoinServiceSpec(Spec):
    """Service from which diskless nodes request their join data; with ``live-iso``, Metal3 does not deliver any."""

    image: PinnedImage
    """Container image of the service, which must implement the contract in ``docs/pools/node-pool.md``. Jacquard does
    not provide one."""
    address: IpAddress
    """Address of the service, in ``networks.management``; it is part of the ISOs."""


class StepDurationsSpec(Spec):
    """Durations of the steps of a node replacement, as measured in the region.

    They are used for estimates only (``jacquard impact``).
    """

    drain_minutes: int = Field(ge=0, le=10_080)
    """Minutes until the pods of a node have finished or been evicted, at most the pool's
    ``rollout.drain_timeout_seconds``."""
    deprovision_minutes: int = Field(ge=1, le=1440)
    """Minutes until a released host is wiped and available."""
    boot_minutes: int = Field(ge=1, le=1440)
    """Minutes until an available host has its image and has booted it."""
    join_minutes: int = Field(ge=1, le=1440)
    """Minutes until a booted host is a ready Node, including its burn-in."""


class NodesSpec(Spec):
    """Rollout, tests and join of the nodes of a region."""

    rollouts: RolloutLimitsSpec = RolloutLimitsSpec()
    """Limits on unavailable nodes in the region."""
    windows: Windows = Windows.ANNOTATE
    """Whether windows of tenants pause rollouts or are informational."""
    burn_in: BurnInSpec | None = None
    """Controller and condition that confirm the burn-in of new nodes; by default pools cannot use burn-in."""
    firmware_updates: FirmwareUpdate = FirmwareUpdate.ON_PREPARING
    """Time at which hosts get new firmware settings and versions."""
    join_service: JoinServiceSpec | None = None
    """Service from which diskless nodes request their join data. Without it, pools cannot run images with
    ``live-iso``."""
    durations: StepDurationsSpec | None = None
    """Durations of rollout steps in this region. Without them, the duration of changes is unknown."""
    addresses: NodeAddressesSpec | None = None
    """Address assignment of nodes in VPCs on HBN; by default no addresses are allocated. Existing nodes get their
    address when they are promoted."""
