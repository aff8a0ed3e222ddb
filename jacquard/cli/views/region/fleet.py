"""The regions of the fleet as tables."""

import datetime as dt
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.reports.fleet.fleet import COLUMNS, FleetFigures, FleetRegion, FleetReport
from jacquard.cli.tables import Section, plain_table
from jacquard.cli.views.region.capacity import ending_table

_HOUR = 60
"""Minutes of an hour."""


def tables(report: FleetReport, now: dt.datetime) -> Iterator[RenderableType]:
    """Yield the tables of `sections` with empty lines between them; the first column of each names its subject."""
    for index, section in enumerate(sections(report, now)):
        if index:
            yield Text()
        yield section.table


def sections(report: FleetReport, now: dt.datetime) -> Iterator[Section]:
    """Yield the capacity by region, type and day, the regions' state, ending contracts, orders and campaigns."""
    yield Section("Capacity", _capacity(report))
    if any(kind.dates for region in report.regions for kind in region.types):
        yield Section(
            "Later capacity", _dates(report), "Figures from days on which contracts or reserved orders change."
        )
    yield Section("Regions", _states(report))
    yield Section(
        "Drift", _drift(report, now), "Last measured differences between the clusters of a region and its data."
    )
    ending = {region.region: region.ending_contracts for region in report.regions if region.ending_contracts}
    if ending:
        yield Section("Contracts that end soon", ending_table(ending))
    if report.orders:
        yield Section("Orders without a region", _orders(report))
    if report.campaigns:
        yield Section("Campaigns", _campaigns(report))


def _capacity(report: FleetReport) -> Table:
    numbers = [name.replace("_", " ") for name in COLUMNS]
    table = plain_table("region", "status", "instance type", *numbers, numbers=numbers, wrap=False)
    for region in report.regions:
        for index, kind in enumerate(region.types):
            name, status = ("", "") if index else (region.region, region.status or "-")
            table.add_row(name, status, kind.instance_type, *_cells(kind.nodes))
        if not region.types:
            table.add_row(region.region, region.status or "-", "-", *["0"] * len(COLUMNS))
    for name, figures in report.totals.items():
        table.add_row("all", "", name, *_cells(figures), style="bold")
    table.add_row("all", "", "GPUs", *_cells(report.gpus), style="bold")
    return table


def _dates(report: FleetReport) -> Table:
    numbers = ("contracted", "reserved", "orderable")
    table = plain_table("later capacity", "instance type", "from", *numbers, numbers=numbers, wrap=False)
    for region in report.regions:
        for kind in region.types:
            for item in kind.dates:
                figures = (item.contracted, item.reserved, item.orderable)
                cells = [f"{count:,}" for count in figures]
                table.add_row(region.region, kind.instance_type, item.day.isoformat(), *cells)
    return table


def _states(report: FleetReport) -> Table:
    table = plain_table("region", "jurisdictions", "latency group", "capabilities", "images", "out of date", "rollouts")
    for region in report.regions:
        table.add_row(
            region.region,
            ", ".join(region.jurisdictions) or "-",
            region.latency_group or "-",
            ", ".join(region.capabilities) or "-",
            ", ".join(f"{version} ({nodes:,})" for version, nodes in region.images.items()) or "-",
            f"{len(region.out_of_date):,}",
            _rollouts(region),
        )
    return table


def _orders(report: FleetReport) -> Table:
    table = plain_table("waiting order", "tenant", "needed from", "until", "reserved in", "nodes")
    for order in report.orders:
        nodes = ", ".join(f"{count:,} {kind}" for kind, count in order.nodes.items())
        until = order.until.isoformat() if order.until else "-"
        table.add_row(order.order, order.tenant, order.needed_from.isoformat(), until, order.reserved_in or "-", nodes)
    return table


def _campaigns(report: FleetReport) -> Table:
    table = plain_table("campaign", "title", "regions", "stopped in")
    for item in report.campaigns:
        states = ", ".join(f"{region} ({state})" for region, state in item.regions.items())
        table.add_row(item.campaign, item.title, states, item.stopped or "-")
    return table


def _rollouts(region: FleetRegion) -> str:
    return ", ".join(f"{item.pool} to {item.to}" for item in region.rollouts) or "-"


def _drift(report: FleetReport, now: dt.datetime) -> Table:
    """Return the drift of each region with the time and the age of its measurement."""
    table = plain_table("region", "drift", "measured at", "age", numbers=("age",), wrap=False)
    for region in report.regions:
        drift = region.drift
        if drift is None:
            table.add_row(region.region, "not measured", "-", "-")
            continue
        found = f"{drift.differing:,} of {drift.compared:,} objects differ"
        found += f", {drift.unread:,} unread" if drift.unread else ""
        minutes = max(0, int((now - drift.observed_at).total_seconds()) // 60)
        age = f"{minutes} min" if minutes < _HOUR else f"{minutes // _HOUR} h"
        table.add_row(region.region, found, f"{drift.observed_at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC", age)
    return table


def _cells(figures: FleetFigures) -> list[str]:
    return [f"{getattr(figures, name):,}" for name in COLUMNS]
