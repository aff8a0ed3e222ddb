"""What may stand in place of a path at ``jacquard show``, its options, and which of them go with which word."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from components.reports.examples import Example
from components.reports.resolved import UnknownPathError
from components.specs.reading.problems import listed, suggestion
from jacquard.cli.errors import ExitCode, Stop

CAPACITY, IMAGES, MAP, NETWORK, OFFERINGS = "capacity", "images", "map", "network", "offerings"
PREREQUISITES, UNIFORMITY, UPGRADES = "prerequisites", "uniformity", "upgrades"
"""Words in place of a path."""
_TABLES = {CAPACITY, IMAGES, NETWORK, OFFERINGS, PREREQUISITES, UNIFORMITY, UPGRADES}
_DRAWN = {CAPACITY, MAP, NETWORK}
_MAX_LISTED = 12


class ShowFormat(StrEnum):
    """How ``show`` answers."""

    TEXT = "text"
    YAML = "yaml"
    JSON = "json"


PathArgument = Annotated[
    str,
    typer.Argument(
        metavar="[PATH|capacity|images|map|network|offerings|prerequisites|uniformity|upgrades]",
        help="Part of the region, such as tenants.acme.clusters.acme-train.pools.train; default: all of it.",
    ),
]
OutputOption = Annotated[ShowFormat, typer.Option("--format", help="How to answer.")]
SvgOption = Annotated[
    Path | None,
    typer.Option(
        "--svg", metavar="FILE", help="With capacity or map: draw halls and racks by pool; with network: VPCs."
    ),
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="With offerings: write them as a page.")
]
ExampleOption = Annotated[
    str | None,
    typer.Option("--example", metavar="NAME", help="With offerings: print an order of a size, a class or a type."),
]
HelmOption = Annotated[bool, typer.Option("--helm", help="With --example: print values of the chart for VMs.")]
BorderOption = Annotated[
    bool,
    typer.Option("--border", help="With network: what routers outside do for each VPC, and switches of RoCE fabrics."),
]
MembersOption = Annotated[
    bool,
    typer.Option("--partitions", help="With network: which ports are members of which InfiniBand partitions."),
]
BetweenOption = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--path",
        metavar="FROM TO",
        help="With network: whether FROM may reach TO; such as pod:CLUSTER, host:CLUSTER/POOL, vm:CLUSTER/VM,"
        " api:CLUSTER, storage, internet, management, or an address.",
    ),
]
PortOption = Annotated[
    str | None,
    typer.Option("--port", metavar="PORT", help="With --path: of what and to which port: tcp/443, udp/53 or icmp."),
]
LiveOption = Annotated[bool, typer.Option("--live", help="With uniformity: ask the clusters, too.")]
PlatformOption = Annotated[
    bool, typer.Option("--platform", help="With images: charts, providers and images of the platform's own.")
]


def refuse_format(environment: str, path: str, output: ShowFormat) -> None:
    """Refuse a form that an answer does not have.

    Raises:
        Stop: it has another.
    """
    if path == MAP and output is not ShowFormat.TEXT:
        msg = f"--format {output}: {MAP} is a picture; say: jacquard show {environment} {CAPACITY} --format json"
        raise Stop(msg, ExitCode.BAD_DATA)
    if path in _TABLES and output is ShowFormat.YAML:
        msg = f"--format yaml: {path} is a table; write text or json"
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
) -> None:
    """Refuse options that do not go with ``path``, or with each other.

    Raises:
        Stop: there is one.
    """
    alone = path == NETWORK and svg is None and between is None
    _refuse_contracts(environment, alone=alone, border=border, members=members)
    if between is not None and (path != NETWORK or svg is not None):
        msg = f"--path tells the way between two; say: jacquard show {environment} {NETWORK} --path {' '.join(between)}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if port is not None and between is None:
        msg = f"--port is of a path; say: jacquard show {environment} {NETWORK} --path FROM TO --port {port}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if example is not None and path != OFFERINGS:
        msg = f"--example orders what is offered; say: jacquard show {environment} {OFFERINGS} --example {example}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if helm and example is None:
        msg = f"--helm prints an order as values; say: jacquard show {environment} {OFFERINGS} --example SIZE --helm"
        raise Stop(msg, ExitCode.BAD_DATA)
    if html is not None and (path != OFFERINGS or example is not None):
        msg = f"--html is a page of what is offered; say: jacquard show {environment} {OFFERINGS} --html {html}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if svg is not None and path not in _DRAWN:
        msg = f"--svg draws the capacity of a region; say: jacquard show {environment} {CAPACITY} --svg {svg}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if live and path != UNIFORMITY:
        msg = f"--live asks clusters what nodes are; say: jacquard show {environment} {UNIFORMITY} --live"
        raise Stop(msg, ExitCode.BAD_DATA)
    if platform and path != IMAGES:
        msg = f"--platform tells what the platform fetches; say: jacquard show {environment} {IMAGES} --platform"
        raise Stop(msg, ExitCode.BAD_DATA)


def _refuse_contracts(environment: str, *, alone: bool, border: bool, members: bool) -> None:
    """Refuse what somebody else does for the network where something else is asked, too."""
    if border and not alone:
        msg = f"--border tells in words what routers do; say: jacquard show {environment} {NETWORK} --border"
        raise Stop(msg, ExitCode.BAD_DATA)
    if members and (border or not alone):
        msg = f"--partitions tells who is in partitions; say: jacquard show {environment} {NETWORK} --partitions"
        raise Stop(msg, ExitCode.BAD_DATA)


def chosen(every: Mapping[str, Example], wanted: str, *, helm: bool) -> Example:
    """Return the example that orders ``wanted``, one with values where ``helm`` asks for them.

    Raises:
        Stop: there is none.
    """
    known = [name for name, example in every.items() if example.values is not None or not helm]
    if wanted in known:
        return every[wanted]
    if wanted in every:
        msg = f"--helm: the chart makes VMs, and '{wanted}' is no size of VM (sizes: {listed(known)}); leave --helm out"
        raise Stop(msg, ExitCode.BAD_DATA)
    msg = f"--example: nobody is offered '{wanted}' (known: {listed(known)}){suggestion(wanted, known)}"
    raise Stop(msg, ExitCode.BAD_DATA)


def unknown_path(path: str, error: UnknownPathError) -> Stop:
    """Return how the command ends where nothing stands at ``path``, with what stands beside."""
    prefix = f"{error.found}." if error.found else ""
    wrong = path.removeprefix(prefix)
    known = listed(error.known, _MAX_LISTED)
    where = f"in {error.found}" if error.found else "in a region"
    return Stop(f"'{wrong}' is unknown {where} (known: {known}){suggestion(wrong, error.known)}", ExitCode.BAD_DATA)
