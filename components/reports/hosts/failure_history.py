"""Mean time between failures of hosts by instance type, from the history of hosts out of service.

A failure is a host in production that a person moved to a state for broken hosts. The hosts and their types are those
of today, because hosts rarely leave an inventory.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pydantic import AwareDatetime

from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState
from components.specs.struct import Struct

BROKEN = frozenset({HostState.TRIAGE, HostState.RMA, HostState.DEBUG})
"""States of hosts with a fault."""
_DAY_SECONDS = 86_400


class Revision(Struct):
    """Hosts out of service from one moment on."""

    at: dt.datetime
    states: Mapping[str, str]
    """State by host; hosts in production are omitted."""


class TypeFailures(Spec):
    """Failures of the hosts of one instance type."""

    instance_type: str
    hosts: int
    """Number of hosts in the inventory today."""
    host_days: float
    """Days in production, as the sum over all hosts."""
    failures: int
    """Number of times that a host in production was moved to a state for broken hosts."""
    mean_days: float | None
    """Mean time between failures of one host in days; None without a failure."""


class FailureHistory(Spec):
    """Failures of hosts in a part of the history."""

    since: AwareDatetime
    until: AwareDatetime
    types: tuple[TypeFailures, ...]


def failure_history(environment: Environment, revisions: Sequence[Revision], until: dt.datetime) -> FailureHistory:
    """Return the failures from the first of ``revisions``, which are in the order of their times, to ``until``."""
    types = {host.host: host.instance_type for host in environment.hosts}
    hosts, days, failures = Counter(types.values()), dict.fromkeys(types.values(), 0.0), Counter[str]()
    for before, after in pairwise((*revisions, Revision(at=until, states=revisions[-1].states))):
        length = (after.at - before.at).total_seconds() / _DAY_SECONDS
        out = Counter(kind for host, kind in types.items() if host in before.states)
        for kind, count in hosts.items():
            days[kind] += (count - out[kind]) * length
        broken = (host for host, state in after.states.items() if state in BROKEN and host not in before.states)
        failures.update(types[host] for host in broken if host in types)
    return FailureHistory(
        since=revisions[0].at,
        until=until,
        types=tuple(
            TypeFailures(
                instance_type=kind,
                hosts=count,
                host_days=round(days[kind], 1),
                failures=failures[kind],
                mean_days=round(days[kind] / failures[kind], 1) if failures[kind] else None,
            )
            for kind, count in sorted(hosts.items())
        ),
    )
