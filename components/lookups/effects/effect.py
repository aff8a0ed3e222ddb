"""Effect of a change: severity, subject, and time."""

from collections.abc import Iterable
from enum import StrEnum


class Effect(StrEnum):
    """Effect of a change, in order of severity."""

    NONE = "none"
    """No running component is affected."""
    IN_PLACE = "in place"
    """Updated while running, without restart."""
    SCALES = "scales"
    """Instances are added, or surplus ones removed; all others stay."""
    PROVISIONED = "provisioned"
    """Hosts without a node are registered, erased or flashed for their next use."""
    RESTARTED = "restarted"
    """Processes are restarted; machines are not rebooted."""
    REBOOTED = "rebooted"
    """Machines are rebooted, including their workloads."""
    RE_FLASHED = "re-flashed"
    """DPUs are re-flashed with their software, and their hosts are rebooted."""
    REPLACED = "replaced"
    """Instances are drained or stopped, and recreated."""
    DELETED = "deleted"
    """Instances are deleted without replacement."""
    REFUSED = "refused"
    """The API server or an admission webhook rejects the change: running systems are unaffected, and applying fails."""
    UNKNOWN = "unknown"
    """The effect is not in the table, or depends on state that rendered objects do not show."""

    @property
    def severity(self) -> int:
        """Return the rank of this effect: 0 for the mildest. An unknown effect ranks highest."""
        return tuple(Effect).index(self)


def worst_of(effects: Iterable[Effect]) -> Effect:
    """Return the worst of ``effects``; ``NONE`` if there are none."""
    return max(effects, key=lambda effect: effect.severity, default=Effect.NONE)


class Subject(StrEnum):
    """Subject of an effect."""

    NODES = "nodes"
    """Machines of a rollout group, and their Nodes."""
    HOSTS = "hosts"
    """Physical hosts, regardless of their use."""
    DPUS = "dpus"
    """DPUs, including the network of their hosts."""
    CONTROL_PLANES = "control planes"
    """API servers of tenants' clusters and their data stores."""
    NETWORK = "network"
    """Reachability and addresses."""
    VOLUMES = "volumes"
    """Stored data, and access to it."""
    VMS = "virtual machines"
    """Virtual machines, and the sizes and images offered for them."""
    PODS = "pods"
    """Pods of operators, agents and helpers."""
    PLATFORM = "platform"
    """The platform's controllers, and their behaviour."""
    READERS = "readers"
    """Users, commands and dashboards that read the object."""


class When(StrEnum):
    """Time at which a change takes effect."""

    AT_ONCE = "at once"
    """When the controller observes the change, within seconds or minutes."""
    NEW_ONLY = "new ones only"
    """When the next instance is created; existing instances are unchanged."""
    NEXT_ROLL = "next roll"
    """When nodes are next created, deleted or repaired, for any reason."""
    NEXT_BOOT = "next boot"
    """At the next reboot of the machine, which this change does not cause."""
    BY_HAND = "by hand"
    """When an operator performs the manual step that the row names."""
    IN_TURN = "in turn"
    """When the platform releases the maintenance hold of the DPU, few hosts at a time, once its host is empty
    (``dpus.release``)."""
