"""Reports of ``jacquard show`` about hosts and nodes, with what clusters report of them."""

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain

from rich.text import Text

from components.render.manifest import MANAGEMENT
from components.reports import health as health_report
from components.reports import uniformity as uniformity_report
from components.reports.hosts import states as host_state_report
from components.reports.hosts.failure_history import FailureHistory, failure_history
from components.specs.environment import Environment
from jacquard.cli.console import plural
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.show_reports import ShowFormat, answer
from jacquard.cli.views.region import enrolment as enrolment_view
from jacquard.cli.views.region import health as health_view
from jacquard.cli.views.region import host_states as host_state_view
from jacquard.cli.views.region import uniformity as uniformity_view
from jacquard.machine import paths
from jacquard.observe import enrolment as live_enrolment
from jacquard.observe.nodes import faults
from jacquard.observe.nodes.live import TENANT_KINDS, live_nodes, management_kinds
from jacquard.observe.nodes.results import pool_results
from jacquard.observe.observation import observe
from jacquard.previews.base_commits import BaseError
from jacquard.previews.host_history import revisions


def report(environment: Environment, name: str, output: ShowFormat, now: dt.datetime, *, live: bool) -> None:
    """Show the report ``name`` of this module; with ``live`` with what clusters report.

    Raises:
        Stop: a host is not as declared, is unknown or was not inspected, or a cluster cannot be read.
    """
    match name:
        case "enrolment":
            _enrolment(environment, output)
        case "host-states":
            data = partial(host_state_report.to_json, environment, now)
            answer(output, data, host_state_view.lines(environment, now))
        case _:
            _uniformity(environment, output, live=live)


def _uniformity(environment: Environment, output: ShowFormat, *, live: bool) -> None:
    report, unreachable = uniformity_report.uniformity(environment), dict[str, str]()
    if live:
        seen = observe(environment, management=management_kinds(environment), tenants=TENANT_KINDS)
        nodes, unreachable = live_nodes(environment, seen), seen.unreachable
        report = uniformity_report.uniformity(environment, nodes)
    document = partial(uniformity_report.to_json, environment.name, report, unreachable)
    answer(output, document, chain(uniformity_view.lines(report), _unread(unreachable)))
    _require_read(environment, unreachable)


def health(environment: Environment, output: ShowFormat, history: str | None, *, live: bool) -> None:
    """Show the health of nodes; with ``live`` as clusters report it, with ``history`` the failures between two commits.

    Raises:
        Stop: the repository does not contain the commits, or a cluster cannot be read.
    """
    failures = _failures(environment, history) if history is not None else None
    report, unreachable = health_report.health(environment, history=failures), dict[str, str]()
    if live:
        seen = observe(environment, management=faults.management_kinds(environment), tenants=TENANT_KINDS)
        found, unreachable = faults.node_faults(environment, seen), seen.unreachable
        tested = pool_results(environment, seen)
        report = health_report.health(environment, found, unreachable, seen.at, tested, failures)
    answer(output, report, chain(health_view.lines(report), _unread(unreachable)))
    _require_read(environment, unreachable)


def _failures(environment: Environment, span: str) -> FailureHistory:
    try:
        found, until = revisions(paths.environments() / environment.name, span)
    except BaseError as error:
        msg = f"--history: {error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    return failure_history(environment, found, until)


def _enrolment(environment: Environment, output: ShowFormat) -> None:
    seen = observe(
        environment, management=live_enrolment.management_kinds(environment), tenants=live_enrolment.TENANT_KINDS
    )
    unread = list(_unread(seen.unreachable))
    if MANAGEMENT in seen.unreachable:
        raise Stop("\n".join(line.plain for line in unread), ExitCode.UNREACHABLE)
    report = live_enrolment.enrolled(environment, seen)
    answer(output, partial(report.to_json, seen.unreachable), chain(enrolment_view.lines(report), unread))
    if report.deviates:
        msg = f"{environment.name}: hosts are not as declared, or not in the inventory"
        raise Stop(msg, ExitCode.DRIFTED)
    if unread:
        msg = f"{environment.name}: some clusters cannot be read, so the devices of their nodes are unknown"
        raise Stop(msg, ExitCode.UNREACHABLE)
    if report.waits:
        msg = f"{environment.name}: some hosts in production are not inspected yet"
        raise Stop(msg, ExitCode.WAITING)


def _require_read(environment: Environment, unreachable: Mapping[str, str]) -> None:
    """Pass if all clusters answered.

    Raises:
        Stop: the state of a cluster is unknown.
    """
    if unreachable:
        msg = f"{environment.name}: {plural(len(unreachable), 'cluster')} cannot be read, so the state is unknown"
        raise Stop(msg, ExitCode.UNREACHABLE)


def _unread(unreachable: Mapping[str, str]) -> Iterable[Text]:
    return (Text(f"cluster {name} cannot be read: {why}", "yellow") for name, why in sorted(unreachable.items()))
