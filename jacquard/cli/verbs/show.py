"""``jacquard show``: what is in force in a region and where it came from, and the reports a word stands for."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.render.manifest import Json
from components.reports.capacity import capacity
from components.reports.chart_upgrades import chart_upgrades
from components.reports.examples import examples_of
from components.reports.images import image_report
from components.reports.network import paths
from components.reports.network.border import contract
from components.reports.network.endpoints import UnknownEndError, UnknownPortError
from components.reports.network.network import network
from components.reports.network.partitions import partitions
from components.reports.offerings import offerings
from components.reports.platform_images import platform_images
from components.reports.prerequisites import prerequisites
from components.reports.resolved import UnknownPathError, resolved
from components.reports.uniformity import to_json, uniformity
from components.reports.upgrades import to_json as upgrades_json
from components.reports.upgrades import upgrades
from components.specs.environment import Environment
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.show_reports import (
    IMAGES,
    NETWORK,
    PREREQUISITES,
    UNIFORMITY,
    BetweenOption,
    BorderOption,
    ExampleOption,
    HelmOption,
    HtmlOption,
    LiveOption,
    MembersOption,
    OutputOption,
    PathArgument,
    PlatformOption,
    PortOption,
    ShowFormat,
    SvgOption,
    chosen,
    refuse_contradictions,
    refuse_format,
    unknown_path,
)
from jacquard.cli.views.region import capacity as capacity_view
from jacquard.cli.views.region import capacity_map, network_map
from jacquard.cli.views.region import images as image_view
from jacquard.cli.views.region import network as network_view
from jacquard.cli.views.region import network_border as border_view
from jacquard.cli.views.region import network_partitions as partitions_view
from jacquard.cli.views.region import network_path as path_view
from jacquard.cli.views.region import offerings as offering_view
from jacquard.cli.views.region import platform_images as platform_view
from jacquard.cli.views.region import prerequisites as prerequisite_view
from jacquard.cli.views.region import resolved as show_view
from jacquard.cli.views.region import uniformity as uniformity_view
from jacquard.cli.views.region import upgrades as upgrade_view
from jacquard.cli.views.region.region_map import region_map
from jacquard.machine import settings
from jacquard.observe.live_nodes import TENANT_KINDS, live_nodes, management_kinds
from jacquard.observe.observation import observe

_COMPARABLE = {IMAGES, NETWORK, PREREQUISITES, UNIFORMITY}
"""Words whose answer is of a region that could be applied."""


def show(
    environment: arguments.Env,
    path: PathArgument = "",
    *,
    output: OutputOption = ShowFormat.TEXT,
    svg: SvgOption = None,
    html: HtmlOption = None,
    example: ExampleOption = None,
    helm: HelmOption = False,
    border: BorderOption = False,
    members: MembersOption = False,
    between: BetweenOption = None,
    port: PortOption = None,
    live: LiveOption = False,
    platform: PlatformOption = False,
    today: arguments.TodayOption = None,
) -> None:
    """Show what is in force and where it came from.

    Each value with its file and line, or default, or the line of the lock file that allocates it. With the word
    capacity in place of a path: hosts installed, contracted, planned, spare, out of service, free and short, per
    instance type and failure domain, and hosts per bare-metal controller. With images: the golden images, where
    each runs, what is behind, what expires and what fits what; with --platform charts, providers and container
    images that the platform itself fetches, each with its digest or told to be by tag. With map: the region as a
    picture in text, each host in the letter of its pool. With network: the networks of tenants, their prefixes,
    numbers and partitions, where the DPUs of their hosts are, and what is free of each range; with --border what
    routers outside do for each VPC, routes to import and to announce; with --partitions which ports of hosts are
    members of which InfiniBand partitions, as UFM takes it; with --path whether one may reach another, by which rule
    and over which devices. With offerings: what tenants can order, sizes and images of VMs, nodes and storage, and
    where there is room; --html writes them as a page, --example prints an order as a manifest, with --helm as values.
    With prerequisites: what objects of the region refer to and nobody renders or makes, such as Secrets, images and
    networks: who needs it, why, its form and how to make it. With uniformity: the one tuple of versions and
    settings of each pool, and what deviates from it. With upgrades: the next Kubernetes version of each cluster,
    whether images are ready for it, what blocks, and newer releases of charts.
    """
    spec = data.comparable(environment) if path in _COMPARABLE else data.load(environment)
    refuse_contradictions(
        environment,
        path,
        svg,
        html,
        example,
        between,
        port,
        helm=helm,
        border=border,
        members=members,
        live=live,
        platform=platform,
    )
    refuse_format(environment, path, output)
    match path:
        case "capacity":
            _show_capacity(spec, output, svg)
        case "images":
            _show_images(spec, output, (today or settings.now()).date(), platform=platform)
        case "map":
            sys.stdout.write(_drawn(spec, svg) or region_map(spec))
        case "network":
            _show_network(spec, output, svg, (*between, port) if between else None, border=border, members=members)
        case "offerings":
            _show_offerings(spec, output, html, example, helm=helm)
        case "prerequisites":
            _show_prerequisites(spec, output)
        case "uniformity":
            _show_uniformity(spec, output, live=live)
        case "upgrades":
            _show_upgrades(spec, output)
        case _:
            _show_values(spec, path, output)


def _show_values(environment: Environment, path: str, output: ShowFormat) -> None:
    try:
        node = resolved(environment, path)
    except UnknownPathError as error:
        raise unknown_path(path, error) from None
    if output is ShowFormat.JSON:
        print_json(show_view.to_json(environment.name, path, node))
    else:
        lines = (
            show_view.yaml_lines(node)
            if output is ShowFormat.YAML
            else show_view.text_lines(node, environment.name, path)
        )
        sys.stdout.writelines(f"{line}\n" for line in lines)


def _show_capacity(environment: Environment, output: ShowFormat, svg: Path | None) -> None:
    table, told = capacity(environment), _drawn(environment, svg)
    if output is ShowFormat.JSON:
        print_json(table.to_json())
        return
    stdout().print(capacity_view.table(table))
    stdout().print()
    stdout().print(capacity_view.budget_table(table.controllers))
    sys.stdout.write(told)


def _drawn(environment: Environment, svg: Path | None) -> str:
    """Draw the region to the file ``svg`` if there is one, and return what to say about it."""
    if svg is None:
        return ""
    outputs.write("--svg", svg, capacity_map.capacity_map(environment), capacity_map.MARK)
    return f"map of {plural(len(environment.hosts), 'host')} in {svg}\n"


def _show_images(environment: Environment, output: ShowFormat, today: dt.date, *, platform: bool) -> None:
    if platform:
        fetched = platform_images(environment)
        _answer(output, partial(fetched.model_dump, mode="json"), platform_view.tables(fetched))
    else:
        report = image_report(environment, today)
        _answer(output, report.to_json, image_view.tables(report))


def _show_network(
    environment: Environment,
    output: ShowFormat,
    svg: Path | None,
    between: tuple[str, str, str | None] | None,
    *,
    border: bool,
    members: bool,
) -> None:
    if between is not None:
        _show_path(environment, output, *between)
        return
    if border:
        done = contract(environment)
        _answer(output, partial(done.model_dump, mode="json"), border_view.lines(done))
        return
    if members:
        filled = partitions(environment)
        _answer(output, partial(filled.model_dump, mode="json"), partitions_view.lines(filled))
        return
    found = network(environment)
    if svg is not None:
        outputs.write("--svg", svg, network_map.network_map(found), network_map.MARK)
    _answer(output, partial(found.model_dump, mode="json"), network_view.tables(found))
    if svg is not None and output is ShowFormat.TEXT:
        sys.stdout.write(f"\n{plural(len(found.vpcs), 'VPC')} drawn in {svg}\n")


def _show_path(environment: Environment, output: ShowFormat, source: str, target: str, port: str | None) -> None:
    try:
        found = paths.path(environment, source, target, port)
    except (paths.NoVpcError, UnknownEndError, UnknownPortError) as error:
        msg = f"--{'port' if isinstance(error, UnknownPortError) else 'path'}: {error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    _answer(output, partial(found.model_dump, mode="json"), path_view.lines(found))


def _show_offerings(
    environment: Environment, output: ShowFormat, html: Path | None, example: str | None, *, helm: bool
) -> None:
    found = offerings(environment)
    if html is not None:
        from jacquard.cli.views.report import offerings as page  # noqa: PLC0415 - templates take time to load, and are for pages

        outputs.write("--html", html, page.html(found), page.MARK)
    if example is not None:
        _show_order(environment, output, example, helm=helm)
    else:
        _answer(output, partial(found.model_dump, mode="json"), offering_view.tables(found))
    if html is not None and output is ShowFormat.TEXT:
        sys.stdout.write(f"\nthe same as a page in {html}\n")


def _show_order(environment: Environment, output: ShowFormat, wanted: str, *, helm: bool) -> None:
    example = chosen(examples_of(environment), wanted, helm=helm)
    if output is ShowFormat.JSON:
        print_json(offering_view.order_json(example, helm=helm))
    else:
        told = offering_view.order_values if helm else offering_view.order
        sys.stdout.write(told(environment.name, example))


def _show_prerequisites(environment: Environment, output: ShowFormat) -> None:
    found = prerequisites(environment)
    _answer(output, partial(found.model_dump, mode="json"), prerequisite_view.lines(found))


def _show_uniformity(environment: Environment, output: ShowFormat, *, live: bool) -> None:
    found, unreachable = uniformity(environment), dict[str, str]()
    if live:
        seen = observe(environment, management=management_kinds(environment), tenants=TENANT_KINDS)
        found, unreachable = uniformity(environment, live_nodes(environment, seen)), seen.unreachable
    silent = (Text(f"cluster {name} cannot be read: {why}", "yellow") for name, why in sorted(unreachable.items()))
    document = partial(to_json, environment.name, found, unreachable)
    _answer(output, document, chain(uniformity_view.lines(found), silent))


def _show_upgrades(environment: Environment, output: ShowFormat) -> None:
    found = upgrades(environment)
    charts = upgrade_view.chart_lines(tuple(chart_upgrades(environment)))
    _answer(output, partial(upgrades_json, environment, found), chain(upgrade_view.lines(found), charts))


def _answer(output: ShowFormat, document: Callable[[], Json], parts: Iterable[RenderableType]) -> None:
    """Print what ``document`` returns as JSON or else ``parts``; a line stays whole, since terminals fold it."""
    if output is ShowFormat.JSON:
        print_json(document())
        return
    for part in parts:
        stdout().print(part, soft_wrap=not isinstance(part, Table))
