"""Reports and options of ``jacquard show``, and checks of option combinations."""

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import RenderableType
from rich.table import Table

from components.render.manifest import Json
from components.reports.examples import Example
from components.reports.resolved import UnknownPathError
from components.specs.reading.problems import listed, suggestion
from jacquard.cli.console import print_json, stdout
from jacquard.cli.errors import ExitCode, Stop

CAPACITY, ENROLMENT, HEALTH, HOST_STATES, IMAGES = "capacity", "enrolment", "health", "host-states", "images"
MAP, NETWORK, OBSERVABILITY, OFFERINGS, POLICIES = "map", "network", "observability", "offerings", "policies"
PREREQUISITES, UNIFORMITY, UPGRADES = "prerequisites", "uniformity", "upgrades"
REPORTS = (
    CAPACITY,
    ENROLMENT,
    HEALTH,
    HOST_STATES,
    IMAGES,
    MAP,
    NETWORK,
    OBSERVABILITY,
    OFFERINGS,
    POLICIES,
    PREREQUISITES,
    UNIFORMITY,
    UPGRADES,
)
"""Names of the reports; a report name replaces a path."""
_DRAWN = {CAPACITY, MAP, NETWORK}
_TABLES = {*REPORTS} - {MAP}
_LIVE = {ENROLMENT, HEALTH, UNIFORMITY}
_MAX_LISTED = 12


class ShowFormat(StrEnum):
    """Output format of ``show``."""

    TEXT = "text"
    YAML = "yaml"
    JSON = "json"


PathArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH|REPORT",
        help="Path such as tenants.acme.clusters.acme-train, or name of a report. Default: the whole region.",
    ),
]
OutputOption = Annotated[ShowFormat, typer.Option("--format", help="Output format.")]
SvgOption = Annotated[
    Path | None,
    typer.Option(
        "--svg", metavar="FILE", help="With capacity or map: write a map of halls and racks; with network: of VPCs."
    ),
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="With offerings: also write an HTML page.")
]
ExampleOption = Annotated[
    str | None,
    typer.Option("--example", metavar="NAME", help="With offerings: print an example order of a size, class or type."),
]
HelmOption = Annotated[bool, typer.Option("--helm", help="With --example: print values of the VM chart.")]
BorderOption = Annotated[
    bool,
    typer.Option(
        "--border",
        help="With network: required configuration of border routers per VPC, and of switches of RoCE fabrics.",
    ),
]
MembersOption = Annotated[
    bool,
    typer.Option("--partitions", help="With network: member ports of each InfiniBand partition."),
]
BetweenOption = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--path",
        metavar="FROM TO",
        help="With network: whether FROM can reach TO. Ends: pod:CLUSTER, host:CLUSTER/POOL, vm:CLUSTER/VM,"
        " api:CLUSTER, storage, internet, management, or an address.",
    ),
]
PortOption = Annotated[
    str | None,
    typer.Option("--port", metavar="PORT", help="With --path: protocol and port: tcp/443, udp/53 or icmp."),
]
LiveOption = Annotated[
    bool,
    typer.Option("--live", help="With health or uniformity: also query the clusters; required with enrolment."),
]
HistoryOption = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="A..B",
        help="With health: failures of hosts between two commits, and the mean time between them.",
    ),
]
PlatformOption = Annotated[
    bool, typer.Option("--platform", help="With images: charts, providers and images of the platform itself.")
]


def refuse_reports(environment: str, path: str, known: Collection[str]) -> None:
    """Reject the name of a report in place of an environment.

    Raises:
        Stop: no environment has this name.
    """
    if environment in REPORTS and environment not in known:
        name = path if path in known else "ENV"
        msg = f"{environment} is a report, which follows the environment; use: jacquard show {name} {environment}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if environment == "fleet" and environment not in known:
        msg = "fleet is a report on all environments; use: jacquard fleet"
        raise Stop(msg, ExitCode.BAD_DATA)


def refuse_format(environment: str, path: str, output: ShowFormat) -> None:
    """Reject an output format that a report does not support.

    Raises:
        Stop: the format is not supported.
    """
    if path == MAP and output is not ShowFormat.TEXT:
        msg = (
            f"--format {output}: {MAP} has only text output; use: jacquard show {environment} {CAPACITY} --format json"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    if path in _TABLES and output is ShowFormat.YAML:
        msg = f"--format yaml: {path} has no YAML output; write text or json"
        raise Stop(msg, ExitCode.BAD_DATA)


def refuse_contradictions(
    environment: str,
    path: str,
    svg: Path | None,
    html: Path | None,
    example: str | None,
    between: tuple[str, str] | None,
    port: str | None,
    *,
    helm: bool,
    border: bool,
    members: bool,
    live: bool,
    platform: bool,
    history: str | None,
) -> None:
    """Reject options that are not valid with ``path`` or with each other.

    Raises:
        Stop: there is such an option.
    """
    plain_network = path == NETWORK and svg is None and between is None
    _refuse_contracts(environment, plain_network=plain_network, border=border, members=members)
    if between is not None and (path != NETWORK or svg is not None):
        ends = " ".join(between)
        msg = f"--path requires {NETWORK} without --svg; use: jacquard show {environment} {NETWORK} --path {ends}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if port is not None and between is None:
        msg = f"--port requires --path; use: jacquard show {environment} {NETWORK} --path FROM TO --port {port}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if example is not None and path != OFFERINGS:
        msg = f"--example requires {OFFERINGS}; use: jacquard show {environment} {OFFERINGS} --example {example}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if helm and example is None:
        msg = f"--helm requires --example; use: jacquard show {environment} {OFFERINGS} --example SIZE --helm"
        raise Stop(msg, ExitCode.BAD_DATA)
    if html is not None and (path != OFFERINGS or example is not None):
        msg = (
            f"--html requires {OFFERINGS} without --example; use: jacquard show {environment} {OFFERINGS} --html {html}"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    if svg is not None and path not in _DRAWN:
        msg = f"--svg requires {CAPACITY}, {MAP} or {NETWORK}; use: jacquard show {environment} {CAPACITY} --svg {svg}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if live and path not in _LIVE:
        known = listed(sorted(_LIVE))
        msg = f"--live requires one of {known}; use: jacquard show {environment} {UNIFORMITY} --live"
        raise Stop(msg, ExitCode.BAD_DATA)
    if path == ENROLMENT and not live:
        msg = f"{ENROLMENT} requires --live; use: jacquard show {environment} {ENROLMENT} --live"
        raise Stop(msg, ExitCode.BAD_DATA)
    _require(environment, path, HEALTH, "--history", value=history)
    _require(environment, path, IMAGES, "--platform", value="" if platform else None)


def _require(environment: str, path: str, report: str, option: str, *, value: str | None) -> None:
    """Reject ``option`` with a ``value`` for any other report than ``report``."""
    if value is not None and path != report:
        msg = f"{option} requires {report}; use: jacquard show {environment} {report} {option} {value}".rstrip()
        raise Stop(msg, ExitCode.BAD_DATA)


def _refuse_contracts(environment: str, *, plain_network: bool, border: bool, members: bool) -> None:
    """Reject ``--border`` and ``--partitions`` outside a plain network report, or together."""
    if border and not plain_network:
        msg = (
            f"--border requires {NETWORK} without --svg and --path; use: jacquard show {environment} {NETWORK} --border"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    if members and (border or not plain_network):
        msg = (
            f"--partitions requires {NETWORK} without --svg, --path and --border; use: jacquard show {environment}"
            f" {NETWORK} --partitions"
        )
        raise Stop(msg, ExitCode.BAD_DATA)


def chosen(every: Mapping[str, Example], wanted: str, *, helm: bool) -> Example:
    """Return the example order of ``wanted``; with ``helm``, an order with chart values.

    Raises:
        Stop: there is no such example.
    """
    known = [name for name, example in every.items() if example.values is not None or not helm]
    if wanted in known:
        return every[wanted]
    if wanted in every:
        msg = f"--helm: the chart creates VMs, and '{wanted}' is not a VM size (sizes: {listed(known)}); omit --helm"
        raise Stop(msg, ExitCode.BAD_DATA)
    msg = f"--example: '{wanted}' is not offered (known: {listed(known)}){suggestion(wanted, known)}"
    raise Stop(msg, ExitCode.BAD_DATA)


def unknown_path(path: str, error: UnknownPathError) -> Stop:
    """Return the stop for an unknown ``path``, with the known keys at its last known level."""
    prefix = f"{error.found}." if error.found else ""
    wrong = path.removeprefix(prefix)
    known = listed(error.known, _MAX_LISTED)
    where = f"in {error.found}" if error.found else "in a region"
    reports = () if error.found or "." in wrong else REPORTS
    near = suggestion(wrong, (*reports, *error.known))
    also = f"; reports: {listed(REPORTS)}" if reports else ""
    return Stop(f"'{wrong}' is unknown {where} (known: {known}{also}){near}", ExitCode.BAD_DATA)


def answer(output: ShowFormat, report: BaseModel | Callable[[], Json], parts: Iterable[RenderableType]) -> None:
    """Print a report or the result of a function as JSON, or ``parts`` as text without wrapping, which terminals do."""
    if output is ShowFormat.JSON:
        print_json(report.model_dump(mode="json") if isinstance(report, BaseModel) else report())
        return
    for part in parts:
        stdout().print(part, soft_wrap=not isinstance(part, Table))
