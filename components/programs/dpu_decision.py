"""Next step of each host, chosen so that DPUs are flashed only while their hosts are unused: pure functions.

In zero-trust mode, DPF requires three external actions: the host is drained, the maintenance hold is released, and the
host is power-cycled. Each run of `dpu_actor` evaluates all hosts again; all state is in the objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

READY = "jacquard.dev/dpu-ready"
"""Annotation of a host that clusters can claim. Its value is the DPUDeployment for which its DPU is ready."""
AWAY = "jacquard.dev/dpu-away"
"""Annotation of a host that was taken to flash its DPU. Its value is the start time."""
CYCLED = "jacquard.dev/dpu-cycled"
"""Annotation of a host for which this program requested a power cycle."""


class Verb(Enum):
    """Step for a host, with its text in the log."""

    MARK = "claims allowed"
    TAKE = "claims blocked, its DPU must be flashed"
    GIVE_BACK = "claims allowed again, its machine cannot be deleted now"
    EMPTY = "machine deleted"
    DELETE = "DPU deleted, DPF recreates it"
    RELEASE = "maintenance hold of the DPU released"
    CYCLE = "power cycle requested"
    DONE = "power cycle reported to DPF"


@dataclass(frozen=True, kw_only=True)
class Host:
    """State of a host and its DPU, from their objects."""

    name: str
    vpc: str | None = None
    group: str | None = None
    """MachineDeployment of the machine on the host; None if there is no machine, or the machine has none."""
    claimed: bool = False
    """Whether a machine runs on the host or has claimed it."""
    going: bool = False
    """Whether that machine is being deleted."""
    yielding: bool = False
    """Whether that machine may be deleted now: its group is complete, and not paused by its tenant or a window."""
    available: bool = True
    """Whether the host is unclaimed and Metal3 has no work to do on it."""
    marked: bool = False
    away: bool = False
    asked: bool = False
    """Whether a power cycle of the host was requested."""
    cycling: bool = False
    """Whether its power cycle is in progress."""
    made: bool = True
    """Whether it has a DPU object that is not being deleted."""
    ready: bool = False
    """Whether its DPU is ready in the VPC of the host."""
    behind: bool = False
    """Whether its DPU was flashed with another image or flavor than its DPUDeployment declares."""
    held: bool = False
    """Whether DPF waits for the release of the maintenance hold."""
    reboot: bool = False
    """Whether DPF waits for a power cycle of the host."""

    @property
    def lost(self) -> bool:
        """Return whether a flash of its DPU is already pending or in progress, independent of further decisions."""
        return not self.made or self.held or self.reboot


Step: TypeAlias = tuple[Verb, Host]


def decide(hosts: Iterable[Host], most: int, most_per_vpc: int) -> list[Step]:
    """Return the next step of each of ``hosts`` that has one.

    Steps that interrupt a host's network apply only to hosts that have no machine and that clusters cannot claim. Of
    the working hosts, at most ``most`` are away simultaneously, and at most ``most_per_vpc`` of one VPC. Free hosts are
    taken first, and hosts of a rollout group one at a time.
    """
    every = sorted(hosts, key=lambda host: (host.claimed, host.name))
    steps = [(verb, host) for host in every if (verb := _next(host))]
    away = Counter(host.vpc for host in every if host.away)
    groups = {host.group for host in every if host.away and host.claimed}
    taken = {host.name for verb, host in steps if verb is Verb.TAKE}
    for host in every:
        if not host.marked or host.away or not (host.behind or host.lost) or host.name in taken:
            continue
        if away.total() >= most or (host.vpc is not None and away[host.vpc] >= most_per_vpc):
            continue
        if host.claimed and (not host.yielding or host.going or host.group in groups):
            continue
        if host.claimed:
            groups.add(host.group)
        away[host.vpc] += 1
        steps.append((Verb.TAKE, host))
    return steps


def _next(host: Host) -> Verb | None:
    if host.claimed:
        return _next_of_claimed(host)
    if host.marked:  # `decide` takes working hosts within the limits; a failed one must be unclaimable immediately.
        return Verb.TAKE if host.away or not host.ready else None
    return None if not host.available or host.cycling else _next_of_empty(host)


def _next_of_empty(host: Host) -> Verb | None:
    if host.reboot:
        return Verb.DONE if host.asked else Verb.CYCLE
    if host.held:
        return Verb.RELEASE
    if host.ready and (not host.away or not host.behind):
        return Verb.MARK
    return Verb.DELETE if host.made and host.behind else None


def _next_of_claimed(host: Host) -> Verb | None:
    if not host.away:
        return Verb.MARK if host.ready and not host.marked and not host.going else None
    if host.going:
        return None
    if host.yielding and not host.marked and (host.behind or host.lost):
        return Verb.EMPTY
    return Verb.GIVE_BACK if host.ready else None
