"""Which step each host takes next, so that its DPU is flashed while nobody is on the host: a pure decision.

DPF asks for three things that it cannot do itself in zero trust: whoever uses a host goes from it, a hold is taken off,
and the host is power-cycled. Each run of `dpu_actor` looks at all hosts anew; objects alone remember how far each is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

READY = "jacquard.dev/dpu-ready"
"""Annotation of a host that a cluster may claim, with the DPUDeployment that its DPU is ready in."""
AWAY = "jacquard.dev/dpu-away"
"""Annotation of a host that was taken for its DPU's sake, with since when."""
CYCLED = "jacquard.dev/dpu-cycled"
"""Annotation of a host whose power cycle this program asked for."""


class Verb(Enum):
    """What is done for a host."""

    MARK = "may be claimed"
    TAKE = "may not be claimed, since its DPU has to be flashed"
    GIVE_BACK = "may be claimed again, since its machine may not go now"
    EMPTY = "its machine goes"
    DELETE = "its DPU is made anew"
    RELEASE = "its DPU may be flashed"
    CYCLE = "its power is cycled"
    DONE = "its power was cycled"


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host and its DPU, as their objects tell it."""

    name: str
    vpc: str | None = None
    group: str | None = None
    """MachineDeployment whose machine is on the host; None when a machine is there that belongs to none."""
    claimed: bool = False
    """Whether a machine is, or will be, on the host."""
    going: bool = False
    """Whether that machine is being deleted."""
    yielding: bool = False
    """Whether the group may lose that machine now: it is whole, and neither its tenant nor a window holds it."""
    available: bool = True
    """Whether Metal3 has nothing to do on the host and nobody has claimed it."""
    marked: bool = False
    away: bool = False
    asked: bool = False
    """Whether its power cycle was asked for."""
    cycling: bool = False
    """Whether its power is being cycled."""
    made: bool = True
    """Whether it has a DPU object that is not being deleted."""
    ready: bool = False
    """Whether its DPU is ready in the VPC of the host."""
    behind: bool = False
    """Whether its DPU was flashed from something else than its DPUDeployment says."""
    held: bool = False
    """Whether DPF waits for the hold to be taken off."""
    reboot: bool = False
    """Whether DPF waits for a power cycle."""

    @property
    def lost(self) -> bool:
        """Tell whether its DPU will be flashed whatever anybody says."""
        return not self.made or self.held or self.reboot


Step: TypeAlias = tuple[Verb, Host]


def decide(hosts: Iterable[Host], most: int, most_per_vpc: int) -> list[Step]:
    """Return the next step for each of ``hosts`` that has one.

    No step that takes the network from a host is for one that a machine is on, or that a cluster may claim. Of hosts
    that work at most ``most`` are away at once, ``most_per_vpc`` of one VPC; free ones go first, and one of a rollout
    group at a time.
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
    if host.marked:  # one that works is taken in its turn; one that does not must not be claimed meanwhile
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
