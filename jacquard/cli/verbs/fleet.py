"""``jacquard fleet``: capacity, images and rollouts of all regions."""

import datetime as dt
from typing import Annotated

import typer
from rich.table import Table

from components.reports.contracts import ENDING_DAYS
from components.reports.fleet.fleet import fleet_report
from components.specs.reading.fleet import load_fleet
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.views.region import fleet as view
from jacquard.machine import paths, settings

_Ending = Annotated[
    int,
    typer.Option("--ending-within", metavar="DAYS", min=0, help="List the contracts that end within this time."),
]


def fleet(
    *,
    ending_within: _Ending = ENDING_DAYS,
    output: arguments.FormatOption = Format.TEXT,
    today: arguments.TodayOption = None,
) -> None:
    """Show capacity, images and open rollouts of all regions.

    Lists the regions of fleet.yaml; all environments if there is no such file. For each instance type: installed
    hosts, hosts out of service, spares of pools, contracted nodes, nodes of pools, free hosts, and the nodes that an
    order can get; also from later days on which contracts or reserved orders begin or have ended. For each region:
    status, capabilities, nodes by image, open rollouts, and contracts that end soon. Orders without a region follow, by
    the day on which their nodes are needed, and campaigns with the state of their regions.
    """
    known = load_fleet(paths.environments())
    names = data.chosen([name for name in known.regions if name in known.folders] or None)
    at: dt.datetime = today or settings.now()
    report = fleet_report(known, [data.load(name) for name in names], at.date(), ending_within)
    if output is Format.JSON:
        print_json(report.to_json())
        return
    for part in view.tables(report):
        stdout().print(part, soft_wrap=not isinstance(part, Table))
