"""Hosts out of service with the deadline of their state."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from components.lookups.host_states.table import deadline, either, host_states, state_of
from components.lookups.pools import place
from components.specs.environment import Environment
from components.specs.reading.loader import OUT_OF_SERVICE
from components.specs.struct import Struct, asdict


class HostStay(Struct):
    """Host out of service, at one point in time."""

    place: str
    """File and line of the entry."""
    host: str
    pool: str | None
    """``cluster/pool`` of the host; None for an unassigned host."""
    state: str
    since: str
    """Day on which the host entered the state."""
    days: int
    """Days since then."""
    due: str | None
    """Day on which the deadline of the state ends; None without a deadline."""
    overdue: bool
    """Whether the deadline is over."""
    limit: str
    """Deadline in hours and its reason; empty without a deadline."""
    next: tuple[str, ...]
    """States that may follow."""
    reason: str
    ticket: str | None

    def __str__(self) -> str:
        """Return an overdue host, or one with a first day in the future, as one line, with the remedy."""
        if self.days < 0:
            return (
                f"{self.place}: {self.host} is in {self.state} since {self.since}, which is in the future, so its"
                " deadline is too late; write the day on which it entered the state"
            )
        days = f"{self.days} day{'' if self.days == 1 else 's'}"
        return (
            f"{self.place}: {self.host} has been in {self.state} for {days}, more than {self.limit}; move it to"
            f" {either(self.next)}"
        )


def host_stays(environment: Environment, now: dt.datetime) -> Iterator[HostStay]:
    """Yield the hosts out of service in the order of the data, as of ``now``."""
    known = {host.host for host in environment.hosts}
    today = now.astimezone(dt.UTC).date()
    for name, entry in environment.out_of_service.items():
        if name not in known:
            continue
        row, due = host_states()[state_of(environment, name)], deadline(environment, name)
        yield HostStay(
            place=place(environment, OUT_OF_SERVICE, ("hosts", name)),
            host=name,
            pool=environment.allocations.hosts.get(name),
            state=entry.state,
            since=str(entry.since),
            days=(today - entry.since).days,
            due=None if due is None else str(due.date()),
            overdue=due is not None and now > due,
            limit="" if due is None else f"{row.deadline_hours} hours ({row.deadline_reason})",
            next=row.next,
            reason=entry.reason,
            ticket=entry.ticket,
        )


def overdue_hosts(environment: Environment, now: dt.datetime) -> Iterator[HostStay]:
    """Yield the hosts whose state has lasted longer than its deadline at ``now``, or begins after the next day.

    In some time zones, the next day of UTC is today.
    """
    return (stay for stay in host_stays(environment, now) if stay.overdue or stay.days < -1)


def in_production(environment: Environment) -> tuple[int, int]:
    """Return the number of hosts in production, and how many of them have a recorded test."""
    hosts = [host.host for host in environment.hosts if host.host not in environment.out_of_service]
    return len(hosts), sum(host in environment.host_tests for host in hosts)


def to_json(environment: Environment, now: dt.datetime) -> dict[str, Any]:
    """Return the report as JSON data."""
    count, tested = in_production(environment)
    return {
        "schema_version": 1,
        "environment": environment.name,
        "out_of_service": [asdict(stay) for stay in host_stays(environment, now)],
        "in_production": {"hosts": count, "tested": tested},
    }
