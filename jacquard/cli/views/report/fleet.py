"""Page of the fleet: capacity as bars, and the tables of ``jacquard fleet``."""

import datetime as dt

from components.reports.fleet.fleet import FleetReport
from components.specs.fleet.fleet import RegionStatus
from jacquard.cli.views.region import fleet as view
from jacquard.cli.views.report.filled import filled, source
from jacquard.cli.views.report.tables import WIDTH, bars, page_sections

MARK = "written by jacquard for the fleet"
"""Comment in a page that names its generator."""


def html(report: FleetReport, now: dt.datetime) -> str:
    """Return the page of ``report`` at ``now``, with a time zone; deterministic."""
    return filled(
        "fleet.html",
        source("report.css") + source("tables.css"),
        mark=MARK,
        at=f"{now.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC",
        figures=_figures(report),
        width=WIDTH,
        rooms=[
            ("Free hosts that are neither spares nor contracted, by region.", list(bars(_orderable(report), "node")))
        ],
        sections=page_sections(view.sections(report, now)),
    )


def _orderable(report: FleetReport) -> dict[str, dict[str, int]]:
    """Return the orderable nodes by region, by instance type; the status of regions that are not open is named."""
    found: dict[str, dict[str, int]] = {name: {} for name in report.totals}
    for region in report.regions:
        is_open = region.status in {None, RegionStatus.OPEN}
        place = region.region if is_open else f"{region.region} ({region.status})"
        for kind in region.types:
            if kind.nodes.orderable:
                found[kind.instance_type][place] = kind.nodes.orderable
    return found


def _figures(report: FleetReport) -> list[tuple[str, str]]:
    """Return the key figures at the top of the page."""
    gpus = report.gpus
    return [
        (str(len(report.regions)), "regions"),
        (f"{gpus.installed:,}", "GPUs installed"),
        (f"{gpus.contracted:,}", "GPUs contracted"),
        (f"{gpus.planned:,}", "GPUs in pools"),
        (f"{gpus.out_of_service:,}", "GPUs out of service"),
        (str(sum(len(region.rollouts) for region in report.regions)), "open rollouts"),
        (str(len(report.orders)), "orders without a region"),
        (str(sum(bool(item.stopped) for item in report.campaigns)), "stopped campaigns"),
    ]
