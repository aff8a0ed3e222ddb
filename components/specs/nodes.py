"""How a region treats the nodes of all its tenants: limits on rolls, burn-in, firmware, and how diskless nodes join."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import IpAddress, PercentOrCount, QualifiedName, Spec, Text

PINNED_IMAGE = r"^[a-z0-9][-.:/_a-z0-9]*@sha256:[0-9a-f]{64}$"

PinnedImage = Annotated[str, StringConstraints(pattern=PINNED_IMAGE, max_length=512)]
"""Container image by digest, ``registry.example/name@sha256:...``."""


class FirmwareUpdate(StrEnum):
    """When a host takes new firmware settings and versions (Metal3's HostUpdatePolicy)."""

    ON_PREPARING = "on-preparing"
    """Before its next image is written, as upstream does by itself."""
    ON_REBOOT = "on-reboot"
    """Also when somebody reboots the running host. Draining it first is up to who reboots."""


class Windows(StrEnum):
    """What the windows of tenants do to rolls."""

    ANNOTATE = "annotate"
    """They are written down, for whoever starts a roll; one that has begun goes on."""
    ENFORCE = "enforce"
    """They hold rolls, by jobs of the management cluster; nodes are repaired all the same (``docs/rollouts.md``)."""


class RolloutLimitsSpec(Spec):
    """How much may be away at once, whoever rolls. What is not given has no limit."""

    max_unavailable_per_pool: PercentOrCount | None = None
    """Of the nodes of a pool, over all rollout groups that are promoted together."""
    max_unavailable_per_fabric: PercentOrCount | None = None
    """Of the nodes on one fabric, of all tenants."""
    max_rolling_nvlink_domains: int | None = Field(default=None, ge=1, le=500)
    """NVLink domains (rollout groups of rack-scale types) of a pool that roll together; one that lacks a node is of no
    use to a job that wants it whole."""


class BurnInSpec(Spec):
    """Who says that a new node has passed its burn-in."""

    condition: QualifiedName
    """Of the Machine; the pools that ask for a burn-in wait until it is True."""
    set_by: Text
    """The controller that sets it, for people who wait. While none does, every node of such a pool counts as
    unavailable."""


class JoinServiceSpec(Spec):
    """The service that nodes without a disk of their own ask how to join; ``live-iso`` delivers nothing to them."""

    image: PinnedImage
    """Of the service that fulfils the contract in ``docs/node-pool.md``; Jacquard brings none."""
    address: IpAddress
    """Where nodes find it: baked into ISOs, one of ``networks.management``."""


class NodesSpec(Spec):
    """Nodes of a region."""

    rollouts: RolloutLimitsSpec = RolloutLimitsSpec()
    windows: Windows = Windows.ANNOTATE
    burn_in: BurnInSpec | None = None
    """None given: no pool may ask for a burn-in."""
    firmware_updates: FirmwareUpdate = FirmwareUpdate.ON_PREPARING
    join_service: JoinServiceSpec | None = None
    """None given: images that boot by ``live-iso`` are unproven here, and no pool may run one."""
