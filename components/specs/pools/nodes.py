"""How a region treats the nodes of all its tenants: limits on rolls, burn-in, firmware, and how diskless nodes join."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import IpAddress, PercentOrCount, QualifiedName, Spec, Text
from components.specs.network.node_addresses import NodeAddressesSpec

PINNED_IMAGE = r"^[a-z0-9][-.:/_a-z0-9]*@sha256:[0-9a-f]{64}$"

PinnedImage = Annotated[str, StringConstraints(pattern=PINNED_IMAGE, max_length=512)]
"""Container image by digest, ``registry.example/name@sha256:...``."""


class FirmwareUpdate(StrEnum):
    """When a host takes new firmware settings and versions (Metal3's HostUpdatePolicy)."""

    ON_PREPARING = "on-preparing"
    """A host takes firmware before its next image is written, as upstream does by itself."""
    ON_REBOOT = "on-reboot"
    """A host takes firmware also when somebody reboots it while it runs. Draining it first is up to who reboots."""


class Windows(StrEnum):
    """What the windows of tenants do to rolls."""

    ANNOTATE = "annotate"
    """Windows are written down, for whoever starts a roll; a roll that has begun goes on."""
    ENFORCE = "enforce"
    """Windows hold rolls, by jobs of the management cluster; nodes are repaired all the same
    (``docs/pools/rollouts.md``)."""


class RolloutLimitsSpec(Spec):
    """How much may be away at once, whoever rolls. A limit that is left out does not hold."""

    max_unavailable_per_pool: PercentOrCount | None = None
    """Most nodes of a pool that may be away, over all rollout groups that are promoted together."""
    max_unavailable_per_fabric: PercentOrCount | None = None
    """Most nodes on one fabric that may be away, over all tenants."""
    max_rolling_nvlink_domains: int | None = Field(default=None, ge=1, le=500)
    """Most NVLink domains (rollout groups of rack-scale types) of a pool that roll together; one that lacks a node is
    of no use to a job that wants it whole."""


class BurnInSpec(Spec):
    """Who says that a new node has passed its burn-in."""

    condition: QualifiedName
    """Condition of the Machine that says so; the pools that ask for a burn-in wait until it is True."""
    set_by: Text
    """Controller that sets the condition, for people who wait. While none does, every node of such a pool counts as
    unavailable."""


class JoinServiceSpec(Spec):
    """The service that nodes without a disk of their own ask how to join; ``live-iso`` delivers nothing to them."""

    image: PinnedImage
    """Container image of the service that fulfils the contract in ``docs/pools/node-pool.md``; Jacquard brings none."""
    address: IpAddress
    """Address at which nodes find the service, one of ``networks.management``; it is baked into ISOs."""


class StepDurationsSpec(Spec):
    """How long a node takes through each step of being made anew, as the region measured it.

    Nothing waits by them: they tell reviewers how long a roll takes (``jacquard impact``).
    """

    drain_minutes: int = Field(ge=0, le=10_080)
    """Minutes until the pods of a node have gone or ended; the pool's ``rollout.drain_timeout_seconds`` bounds it."""
    deprovision_minutes: int = Field(ge=1, le=1440)
    """Minutes until a host that is given back is wiped and free."""
    boot_minutes: int = Field(ge=1, le=1440)
    """Minutes until a free host has its image and has booted it."""
    join_minutes: int = Field(ge=1, le=1440)
    """Minutes until a host that has booted is a Node that is ready, its burn-in included."""


class NodesSpec(Spec):
    """How the nodes of a region are rolled, tested and joined."""

    rollouts: RolloutLimitsSpec = RolloutLimitsSpec()
    """Limits on how much may be away at once in the region."""
    windows: Windows = Windows.ANNOTATE
    """Whether windows of tenants hold rolls or only inform."""
    burn_in: BurnInSpec | None = None
    """Who says that a new node has passed its burn-in; no pool may ask for one when it is left out."""
    firmware_updates: FirmwareUpdate = FirmwareUpdate.ON_PREPARING
    """When hosts take new firmware settings and versions."""
    join_service: JoinServiceSpec | None = None
    """Service that diskless nodes ask how to join. Without one, images that boot by ``live-iso`` are unproven, and no
    pool may run one."""
    durations: StepDurationsSpec | None = None
    """How long the steps of a roll take here; how long a change takes is unknown when it is left out."""
    addresses: NodeAddressesSpec | None = None
    """How nodes in VPCs on HBN get their address; nobody gives them one when it is left out. Nodes that are there get
    theirs when they are promoted."""
