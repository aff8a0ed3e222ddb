"""Observation of a region's components as text."""

from collections.abc import Iterator
from itertools import groupby

from rich.table import Table
from rich.text import Text

from components.lookups.observed_components import Monitor
from components.reports.observability import CLUSTERS, CONCEPT, Observability, ObservedRow
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table

_NAMED = 2
_TITLES = {CONCEPT: "concepts", CLUSTERS: "charts and manifests of tenant clusters"}
_MANAGEMENT = "charts and manifests of the management cluster"


def lines(report: Observability) -> Iterator[Table | Text]:
    """Yield a table of the concepts, one of the charts and manifests of each place, and one of reasons."""
    for place, rows in groupby(report.rows, lambda row: row.place):
        yield Text(_TITLES.get(place, _MANAGEMENT), "bold")
        table = plain_table(
            "component", "instances", "monitor", "alerts", "dashboards", "receivers", numbers=("instances",)
        )
        for row in rows:
            table.add_row(
                row.component,
                f"{row.instances:,}",
                _monitor(row),
                listed(row.alerts, _NAMED) if row.alerts else "-",
                listed(row.dashboards, _NAMED) if row.dashboards else "-",
                ", ".join(_receivers(row)) or "-",
            )
        yield table
        yield Text()
    yield Text("reasons for missing parts", "bold")
    yield _reasons(report)


def _reasons(report: Observability) -> Table:
    """Return the reasons, each with the components that lack the same parts for it."""
    lacking: dict[tuple[str, str], dict[str, None]] = {}
    for row in report.rows:
        parts: dict[str, list[str]] = {}
        for part, reason in row.without.items():
            parts.setdefault(reason, []).append(part)
        for reason, names in parts.items():
            lacking.setdefault((", ".join(names), reason), {})[row.component] = None
    table = plain_table("without", "components", "reason")
    for (parts_text, reason), components in lacking.items():
        table.add_row(parts_text, ", ".join(components), reason)
    return table


def _monitor(row: ObservedRow) -> str:
    if row.monitor is Monitor.NONE:
        return "-"
    return (
        str(row.monitor) if row.monitored == row.instances else f"{row.monitor}, {row.monitored:,} of {row.instances:,}"
    )


def _receivers(row: ObservedRow) -> Iterator[str]:
    yield from row.operators
    if row.tenants:
        yield plural(len(row.tenants), "tenant")
    if row.inside:
        yield "Alertmanager in the cluster"
