"""``jacquard fleet``: capacity, images and rollouts of all regions."""

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from components.reports.contracts import ENDING_DAYS
from components.reports.fleet.fleet import FleetDrift, fleet_report
from components.specs.environment import Environment
from components.specs.reading.fleet import load_fleet
from components.specs.struct import replace
from components.specs.times import CLOCK_SKEW
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import Format, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.region import fleet as view
from jacquard.machine import paths, settings
from jacquard.machine.errors import explained
from jacquard.observe.drift import Drift, DriftFileError, data_digest, read_drift

_Ending = Annotated[
    int,
    typer.Option("--ending-within", metavar="DAYS", min=0, help="List the contracts that end within this time."),
]
_DriftFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--drift",
        metavar="FILE",
        help="Output of 'drift --format json' of a region, about its current data; repeatable, one per region.",
    ),
]


def fleet(
    *,
    drift: _DriftFiles = None,
    ending_within: _Ending = ENDING_DAYS,
    output: arguments.FormatOption = Format.TEXT,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write an HTML page.")] = None,
    today: arguments.TodayOption = None,
) -> None:
    """Show capacity, images and open rollouts of all regions.

    Lists the regions of fleet.yaml; all environments if there is no such file. For each instance type: installed
    hosts, hosts out of service, spares of pools, contracted nodes, nodes of pools, free hosts, and the nodes that an
    order can get; also from later days on which contracts or reserved orders begin or have ended. For each region:
    status, capabilities, nodes by image, open rollouts, and contracts that end soon. Orders without a region follow, by
    the day on which their nodes are needed, and campaigns with the state of their regions.

    No cluster is read. --drift adds the last measured drift of a region, with its time and age; the drift of other
    regions is not measured.
    """
    known = load_fleet(paths.environments())
    names = data.chosen([name for name in known.regions if name in known.folders] or None)
    now = settings.now()
    at: dt.datetime = today or now
    environments = [data.load(name) for name in names]
    report = fleet_report(known, environments, at.date(), ending_within)
    measured = _measured(drift or [], environments, now)
    regions = tuple(replace(item, drift=measured.get(item.region)) for item in report.regions)
    report = replace(report, regions=regions)
    if html is not None:
        from jacquard.cli.views.report import fleet as page  # noqa: PLC0415 - templates are only for pages and take time to load

        outputs.write("--html", html, page.html(report, now), page.MARK)
    if output is Format.JSON:
        print_json(report.to_json())
        return
    for part in view.tables(report, now):
        stdout().print(part, soft_wrap=not isinstance(part, Table))
    if html is not None:
        write_text(f"\nHTML page in {html}\n")


def _measured(files: Iterable[Path], environments: Iterable[Environment], now: dt.datetime) -> dict[str, FleetDrift]:
    """Return the drift in ``files`` by region.

    Raises:
        Stop: files are unusable; contains all reasons.
    """
    known = {environment.name: environment for environment in environments}
    found, wrong = dict[str, tuple[Path, Drift]](), list[str]()
    for path in files:
        try:
            drift = read_drift(str(path), path.read_bytes())
        except OSError as error:
            wrong.append(
                f"--drift {explained(error)}; name a file with the output of 'jacquard drift ENV --format json'"
            )
        except DriftFileError as error:
            wrong.append(f"--drift {error}")
        else:
            name = drift.environment
            again = f"write it again with jacquard drift {name} --format json"
            if name not in known:
                wrong.append(f"--drift {path} is about {name}, which is no region of the fleet; omit it")
            elif name in found:
                wrong.append(f"--drift {found[name][0]} and {path} are both about {name}; write the newer one only")
            elif drift.observed_at > now + CLOCK_SKEW:
                wrong.append(f"--drift {path} is from {drift.observed_at.isoformat()}, later than now; {again}")
            elif drift.data != data_digest(known[name]):
                wrong.append(f"--drift {path} is about other data of {name} than the current ones; {again}")
            else:
                found[name] = path, drift
    if wrong:
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
    return {
        name: FleetDrift(
            observed_at=drift.observed_at,
            compared=drift.compared,
            differing=len(drift.objects),
            unread=len(drift.unread),
        )
        for name, (_, drift) in found.items()
    }
