"""``jacquard show``: resolved values of a region with their origin, and reports about it."""

import datetime as dt
from functools import partial
from itertools import chain
from pathlib import Path

from components.reports.capacity import capacity
from components.reports.chart_upgrades import chart_upgrades
from components.reports.contracts import ending_contracts
from components.reports.examples import examples_of
from components.reports.images import image_report
from components.reports.network import paths
from components.reports.network.border import contract
from components.reports.network.endpoints import UnknownEndError, UnknownPortError
from components.reports.network.network import network
from components.reports.network.partitions import partitions
from components.reports.observability import observability
from components.reports.offerings import offerings
from components.reports.platform_images import platform_images
from components.reports.prerequisites import prerequisites
from components.reports.resolved import UnknownPathError, resolved
from components.reports.upgrades import to_json as upgrades_json
from components.reports.upgrades import upgrades
from components.specs.environment import Environment
from jacquard.cli import arguments, data, outputs, show_hosts, show_reports
from jacquard.cli.console import plural, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.show_reports import ShowFormat
from jacquard.cli.views.region import capacity as capacity_view
from jacquard.cli.views.region import capacity_map, network_map
from jacquard.cli.views.region import images as image_view
from jacquard.cli.views.region import network as network_view
from jacquard.cli.views.region import network_border as border_view
from jacquard.cli.views.region import observability as observability_view
from jacquard.cli.views.region import offerings as offering_view
from jacquard.cli.views.region import prerequisites as prerequisite_view
from jacquard.cli.views.region import resolved as show_view
from jacquard.cli.views.region import upgrades as upgrade_view
from jacquard.cli.views.region.region_map import region_map
from jacquard.machine import settings

_COMPARABLE = {
    show_reports.ENROLMENT,
    show_reports.IMAGES,
    show_reports.NETWORK,
    show_reports.OBSERVABILITY,
    show_reports.POLICIES,
    show_reports.PREREQUISITES,
    show_reports.UNIFORMITY,
}
"""Reports that require data without problems."""


def show(
    environment: arguments.Env,
    path: show_reports.PathArgument = "",
    *,
    output: show_reports.OutputOption = ShowFormat.TEXT,
    svg: show_reports.SvgOption = None,
    html: show_reports.HtmlOption = None,
    example: show_reports.ExampleOption = None,
    helm: show_reports.HelmOption = False,
    border: show_reports.BorderOption = False,
    members: show_reports.MembersOption = False,
    between: show_reports.BetweenOption = None,
    port: show_reports.PortOption = None,
    live: show_reports.LiveOption = False,
    history: show_reports.HistoryOption = None,
    platform: show_reports.PlatformOption = False,
    today: arguments.TodayOption = None,
) -> None:
    """Show resolved values and their origin, or a report about a region.

    A path shows each value with its file and line, its default, or the line of the lock file that allocates it. With
    --live, exits with 7 if a cluster cannot be read. A report name in place of the path shows:

    capacity: installed, contracted, planned, spare, out-of-service, free and missing hosts per instance type and
    failure domain, and hosts per bare-metal controller.

    enrolment: with --live, hosts whose inspected hardware (CPUs, memory, disks, network adapters, serial number,
    firmware) or devices differ from the inventory and the instance type, the next action for each, hosts that were not
    inspected yet, and hosts or BMCs that are not in the inventory. Exits with 6 if a host differs or is unknown, else
    with 7 if a cluster cannot be read, else with 3 if a host in production was not inspected yet.

    health: the checks of the nodes of each instance type, and the action on each fault; with --live the nodes with
    faults, since when, and what follows; with --history the failures of hosts that the git history of
    out_of_service.yaml records, and the mean time between them by instance type.

    host-states: hosts out of service with the state, its first day and deadline, and the states that may follow;
    the number of hosts in production, and of those with a recorded test.

    images: golden images with their pools, out-of-date pools, expiry and compatibility; with --platform the charts,
    providers and container images of the platform itself, by digest or by tag.

    map: the region as a text map, with the letter of its pool for each host.

    network: tenant networks with their prefixes, numbers, partitions and DPUs, and the free part of each range; with
    --border the required configuration of border routers per VPC, with imported and announced routes; with
    --partitions the host ports in each InfiniBand partition, in the form that UFM accepts; with --path whether two ends
    can reach each other, the deciding rule and the devices between them.

    observability: each component with its number of instances, monitor, alerts, dashboards and the receivers of the
    alerts; in JSON also why a component has no monitor.

    offerings: sizes and images of VMs, nodes and storage that tenants can order, with free capacity; --html writes an
    HTML page, --example prints an order as a manifest, with --helm as chart values.

    policies: the level of each policy and its origin, limits, judged objects and violations; waivers with the remaining
    days and the number of violations that they permit, also unused and expired waivers.

    prerequisites: objects that the region references but nothing renders, such as Secrets, images and networks, with
    their users, purpose, form and how to create them.

    uniformity: the versions and settings of each pool, and deviations from them.

    upgrades: the next Kubernetes version of each cluster, the readiness of images, blockers, and newer chart releases.
    """
    show_reports.refuse_reports(environment, path, data.names())
    spec = data.comparable(environment) if path in _COMPARABLE else data.load(environment)
    show_reports.refuse_contradictions(
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
        history=history,
    )
    show_reports.refuse_format(environment, path, output)
    match path:
        case "capacity":
            _show_capacity(spec, output, svg, (today or settings.now()).date())
        case "images":
            _show_images(spec, output, (today or settings.now()).date(), platform=platform)
        case "map":
            write_text(_drawn(spec, svg) or region_map(spec))
        case "network":
            _show_network(spec, output, svg, (*between, port) if between else None, border=border, members=members)
        case "offerings":
            _show_offerings(spec, output, html, example, helm=helm)
        case "observability" | "prerequisites" | "upgrades":
            _show_objects(spec, path, output)
        case "health":
            show_hosts.health(spec, output, history, live=live)
        case "policies":
            _show_policies(spec, output, today.replace(tzinfo=dt.UTC) if today else settings.now())
        case "enrolment" | "host-states" | "uniformity":
            at = today.replace(tzinfo=dt.UTC) if today else settings.now()
            show_hosts.report(spec, path, output, at, live=live)
        case _:
            _show_values(spec, path, output)


def _show_values(environment: Environment, path: str, output: ShowFormat) -> None:
    try:
        node = resolved(environment, path)
    except UnknownPathError as error:
        raise show_reports.unknown_path(path, error) from None
    if output is ShowFormat.JSON:
        print_json(show_view.to_json(environment.name, path, node))
    else:
        lines = (
            show_view.yaml_lines(node)
            if output is ShowFormat.YAML
            else show_view.text_lines(node, environment.name, path)
        )
        write_text("".join(f"{line}\n" for line in lines))


def _show_capacity(environment: Environment, output: ShowFormat, svg: Path | None, today: dt.date) -> None:
    table, note = capacity(environment, today), _drawn(environment, svg)
    ending = ending_contracts(environment, today)
    if output is ShowFormat.JSON:
        print_json(table.to_json() | {"ending_contracts": capacity_view.ending_json(ending)})
        return
    stdout().print(capacity_view.table(table))
    if ending:
        stdout().print()
        stdout().print(capacity_view.ending_table({environment.name: ending}))
    stdout().print()
    stdout().print(capacity_view.budget_table(table.controllers))
    write_text(note)


def _drawn(environment: Environment, svg: Path | None) -> str:
    """Write a map of the region to the file ``svg``, if there is one, and return a note about it."""
    if svg is None:
        return ""
    outputs.write("--svg", svg, capacity_map.capacity_map(environment), capacity_map.MARK)
    return f"map of {plural(len(environment.hosts), 'host')} in {svg}\n"


def _show_images(environment: Environment, output: ShowFormat, today: dt.date, *, platform: bool) -> None:
    if platform:
        fetched = platform_images(environment)
        show_reports.answer(output, fetched, image_view.platform_tables(fetched))
    else:
        report = image_report(environment, today)
        show_reports.answer(output, report.to_json, image_view.tables(report))


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
        show_reports.answer(output, done, border_view.lines(done))
        return
    if members:
        filled = partitions(environment)
        show_reports.answer(output, filled, network_view.partition_lines(filled))
        return
    report = network(environment)
    if svg is not None:
        outputs.write("--svg", svg, network_map.network_map(report), network_map.MARK)
    show_reports.answer(output, report, network_view.tables(report))
    if svg is not None and output is ShowFormat.TEXT:
        write_text(f"\nmap of {plural(len(report.vpcs), 'VPC')} in {svg}\n")


def _show_path(environment: Environment, output: ShowFormat, source: str, target: str, port: str | None) -> None:
    try:
        report = paths.path(environment, source, target, port)
    except (paths.NoVpcError, UnknownEndError, UnknownPortError) as error:
        msg = f"--{'port' if isinstance(error, UnknownPortError) else 'path'}: {error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    show_reports.answer(output, report, network_view.path_lines(report))


def _show_offerings(
    environment: Environment, output: ShowFormat, html: Path | None, example: str | None, *, helm: bool
) -> None:
    report = offerings(environment)
    if html is not None:
        from jacquard.cli.views.report import offerings as page  # noqa: PLC0415 - templates are only for pages and take time to load

        outputs.write("--html", html, page.html(report), page.MARK)
    if example is not None:
        _show_order(environment, output, example, helm=helm)
    else:
        show_reports.answer(output, report, offering_view.tables(report))
    if html is not None and output is ShowFormat.TEXT:
        write_text(f"\nHTML page in {html}\n")


def _show_order(environment: Environment, output: ShowFormat, wanted: str, *, helm: bool) -> None:
    example = show_reports.chosen(examples_of(environment), wanted, helm=helm)
    if output is ShowFormat.JSON:
        print_json(offering_view.order_json(example, helm=helm))
    else:
        text = offering_view.order_values if helm else offering_view.order
        write_text(text(environment.name, example))


def _show_objects(environment: Environment, path: str, output: ShowFormat) -> None:
    """Show a report about all rendered objects, or about versions."""
    if path == show_reports.OBSERVABILITY:
        observed = observability(environment)
        show_reports.answer(output, observed, observability_view.lines(observed))
    elif path == show_reports.PREREQUISITES:
        required = prerequisites(environment)
        show_reports.answer(output, required, prerequisite_view.lines(required))
    else:
        _show_upgrades(environment, output)


def _show_policies(environment: Environment, output: ShowFormat, now: dt.datetime) -> None:
    # These modules load the policies, which no other report needs.
    from jacquard.cli.views.region import policies as view  # noqa: PLC0415
    from policies.report import policy_report  # noqa: PLC0415

    report = policy_report(environment, now)
    show_reports.answer(output, report, view.lines(report))


def _show_upgrades(environment: Environment, output: ShowFormat) -> None:
    report = upgrades(environment)
    charts = upgrade_view.chart_lines(tuple(chart_upgrades(environment)))
    show_reports.answer(output, partial(upgrades_json, environment, report), chain(upgrade_view.lines(report), charts))
