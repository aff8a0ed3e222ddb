"""What a change does: the effect, on what it falls, and from when on."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Effect(StrEnum):
    """What a change does, from the mildest to the worst."""

    NONE = "none"
    """Nothing that runs notices it."""
    IN_PLACE = "in place"
    """What runs goes on, and something about it changes."""
    SCALES = "scales"
    """Some more come, or surplus ones go, and all others stay."""
    RESTARTED = "restarted"
    """Programs are started anew, on machines that stay up."""
    REBOOTED = "rebooted"
    """Machines are started anew, with what is on them."""
    RE_FLASHED = "re-flashed"
    """DPUs get their software anew, and their hosts are rebooted."""
    REPLACED = "replaced"
    """What runs is drained or stopped, and is made anew."""
    DELETED = "deleted"
    """What runs goes, and nothing comes instead."""
    REFUSED = "refused"
    """The API server or an admission webhook refuses the change: nothing happens to what runs, and applying fails."""
    UNKNOWN = "unknown"
    """Nobody has decided what the change does, or that depends on what rendered objects do not show."""

    @property
    def severity(self) -> int:
        """Return the place of this effect among all, the worst one highest; what is unknown may be the worst."""
        return tuple(Effect).index(self)


def worst_of(effects: Iterable[Effect]) -> Effect:
    """Return the worst of some effects; none where there is no effect."""
    return max(effects, key=lambda effect: effect.severity, default=Effect.NONE)


class Subject(StrEnum):
    """What an effect falls on."""

    NODES = "nodes"
    """Machines of a rollout group, and the Nodes that they are."""
    HOSTS = "hosts"
    """Servers, whoever uses them."""
    DPUS = "dpus"
    """DPUs, and with them the network of the hosts that they are in."""
    CONTROL_PLANES = "control planes"
    """API servers of tenants' clusters and what stores their data."""
    NETWORK = "network"
    """Who reaches whom, and at which address."""
    VOLUMES = "volumes"
    """Stored data, and the ways to it."""
    VMS = "virtual machines"
    """Virtual machines, and what can be ordered of them."""
    PODS = "pods"
    """Pods of operators, agents and helpers."""
    PLATFORM = "platform"
    """The platform's own controllers, and how they work."""
    READERS = "readers"
    """People, commands and dashboards that read the object."""


class When(StrEnum):
    """The moment from which on a change has its effect."""

    AT_ONCE = "at once"
    """When the controller sees the change, within seconds or minutes."""
    NEW_ONLY = "new ones only"
    """When something is made the next time; what is there stays as it is."""
    NEXT_ROLL = "next roll"
    """When nodes come, go or are repaired the next time, for whatever reason."""
    NEXT_BOOT = "next boot"
    """When the machine is started anew for another reason."""
    BY_HAND = "by hand"
    """When somebody outside does a further step, which the row names."""
    IN_TURN = "in turn"
    """When the platform lets the DPU go, few hosts at a time, once its host is empty (``dpus.release``)."""
