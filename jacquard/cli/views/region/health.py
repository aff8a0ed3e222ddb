"""Health of a region's nodes as text: checks by instance type, and nodes with faults."""

from collections.abc import Iterator
from itertools import groupby

from rich.table import Table
from rich.text import Text

from components.reports.health import CheckRow, Health, NodeFault, PoolResults, TypeHealth
from components.reports.hosts.failure_history import FailureHistory
from components.specs.health.node_checks import HealthAction
from components.specs.reading.problems import listed
from jacquard.cli.console import long_duration, plural
from jacquard.cli.tables import plain_table

_STYLES = {HealthAction.NOTIFY: "", HealthAction.QUARANTINE: "yellow", HealthAction.REPAIR: "red"}
_CLUSTERS = 5


def lines(report: Health) -> Iterator[Table | Text]:
    """Yield the checks, one table for instance types with the same checks, then the faults."""
    for rows, types in groupby(sorted(report.types, key=lambda kind: str(kind.checks)), lambda kind: kind.checks):
        yield Text(listed([kind.instance_type for kind in types]), "bold")
        yield _table(rows)
        yield Text()
    for (repairs, hours), types in groupby(sorted(report.types, key=_limit), _limit):
        names = listed([kind.instance_type for kind in types])
        if repairs:
            limit = f"{plural(repairs, 'repair')} of a host within {long_duration(hours * 60)}"
            yield Text(f"after {limit}, the next one replaces the node: {names}")
        else:
            text = "a repair replaces the node, also without a free host; take the broken host out of service first"
            yield Text(f"{text}: {names}", "yellow")
    for text, clusters in (
        ("no add-on reports faults of nodes in", report.unwatched),
        ("no add-on keeps new pods from nodes with faults in", report.unquarantined),
    ):
        if clusters:
            yield Text(f"{text} {listed(clusters, _CLUSTERS)}", "yellow")
    yield from map(_tested, report.tested)
    if report.faults is not None:
        yield from _faults(report.faults)
    if report.history is not None:
        yield from _history(report.history)


def _limit(kind: TypeHealth) -> tuple[int, int]:
    return kind.repairs or 0, kind.repairs_within_hours or 0


def _table(rows: tuple[CheckRow, ...]) -> Table:
    table, live = Table(box=None, pad_edge=False), any(row.nodes is not None for row in rows)
    for title in ("check", "action", "after", "detected by", *(("nodes now",) if live else ()), "fault"):
        table.add_column(title)
    for row in rows:
        count = (
            f"{row.threshold} events within {long_duration(row.hold_seconds // 60)}" if row.threshold else row.detector
        )
        what = row.condition or count
        after = long_duration(row.hold_seconds // 60) if row.action is HealthAction.REPAIR else ""
        why = f" (override: {row.reason})" if row.reason else ""
        now = "" if row.nodes is None else f"{row.nodes}, {row.due} due" if row.due else str(row.nodes)
        cells = (after, what, *((now,) if live else ()), f"{row.summary}{why}")
        action = f"{row.action}, {row.when_idle} when idle" if row.when_idle else row.action
        table.add_row(row.check, Text(action, _STYLES[row.action]), *cells)
    return table


def _tested(pool: PoolResults) -> Text:
    nodes = pool.passed + pool.failed + pool.untested
    oldest = f"; the oldest result is from {pool.oldest:%Y-%m-%d %H:%M} UTC" if pool.oldest else ""
    text = f"{pool.cluster}/{pool.pool}: {pool.passed} of {plural(nodes, 'node')} passed the last tests, "
    return Text(f"{text}{pool.failed} failed, {pool.untested} not tested yet{oldest}", "yellow" if pool.failed else "")


def _history(history: FailureHistory) -> Iterator[Table | Text]:
    yield Text()
    yield Text(f"failures of hosts from {history.since:%Y-%m-%d} to {history.until:%Y-%m-%d}", "bold")
    numbers = ("hosts", "host days", "failures", "mean days between failures of a host")
    table = plain_table("instance type", *numbers, numbers=numbers)
    for row in history.types:
        mean = "-" if row.mean_days is None else f"{row.mean_days:,.1f}"
        table.add_row(row.instance_type, f"{row.hosts:,}", f"{row.host_days:,.0f}", f"{row.failures:,}", mean)
    yield table


def _faults(faults: tuple[NodeFault, ...]) -> Iterator[Text]:
    nodes = len({(fault.cluster, fault.node) for fault in faults})
    yield Text(f"{plural(nodes, 'node')} with faults" if nodes else "no node has a fault", "" if nodes else "green")
    for fault in faults:
        since = f" since {fault.since:%Y-%m-%d %H:%M} UTC" if fault.since else ""
        host = f" on {fault.host}" if fault.host else ""
        head = f"  {fault.cluster}/{fault.pool}/{fault.node}{host}: {fault.condition}{since}"
        yield Text(head, _STYLES[fault.action] if fault.action else "")
        yield Text(f"    {fault.message}", "dim")
        if fault.repairs:
            yield Text(f"    repairs: {', '.join(f'{start:%Y-%m-%d %H:%M} UTC' for start in fault.repairs)}")
        if fault.evidence:
            test = fault.evidence
            yield Text(f"    last test of the host: {test.passed:%Y-%m-%d %H:%M} UTC, report {test.digest}", "dim")
        yield Text(f"    next: {fault.next_action}")
