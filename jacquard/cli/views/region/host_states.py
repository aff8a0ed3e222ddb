"""Hosts out of service as a table, with the deadline of each state."""

import datetime as dt
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from components.reports.hosts.states import host_stays, in_production
from components.specs.environment import Environment
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table


def lines(environment: Environment, now: dt.datetime) -> Iterator[RenderableType]:
    """Yield the table of hosts out of service, then the number of hosts in production."""
    stays = list(host_stays(environment, now))
    table = plain_table("host", "state", "since", "days", "due", "pool", "next", "reason", numbers=("days",))
    for stay in stays:
        due = Text(f"{stay.due} overdue", "red") if stay.overdue else Text(stay.due or "-")
        reason = f"{stay.reason} ({stay.ticket})" if stay.ticket else stay.reason
        following = ", ".join(stay.next)
        table.add_row(stay.host, stay.state, stay.since, str(stay.days), due, stay.pool or "-", following, reason)
    if stays:
        yield table
        yield Text("")
    count, tested = in_production(environment)
    yield Text(f"{plural(count, 'host')} in production, {tested} of them with a recorded test")
