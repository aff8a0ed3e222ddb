"""Transitions of hosts between the states of their life cycle: conditions, and the edits of the data files."""

import datetime as dt
from collections.abc import Iterator

from components.lookups.host_states.movers import mover_fault
from components.lookups.host_states.table import LifecycleState, host_states, refusal, state_of
from components.lookups.pools import inventory_file, place
from components.specs.environment import Environment
from components.specs.hosts.host_report import ReportFile
from components.specs.hosts.host_tests import HostTestReport, Outcome
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import listed
from components.specs.struct import Struct
from components.specs.times import CLOCK_SKEW

_MOST_TESTS = 3
_AGAIN = "test the host again"


class Move(Struct):
    """Requested transition of one host."""

    host: HostSpec
    to: LifecycleState
    reason: str | None = None
    ticket: str | None = None
    by: str | None = None
    """Person or group that requests the transition."""
    evidence: ReportFile | None = None
    """Report of the test that permits the transition to production."""


def objections(environment: Environment, move: Move, now: dt.datetime) -> list[str]:
    """Return all reasons why ``move`` is not possible at ``now``, each with its remedy; empty if it is possible."""
    state, to = state_of(environment, move.host.host), move.to
    found = [*_option_faults(environment, move, state)]
    refused = refusal(state, to) if state is not to else None
    if refused:
        found.append(f"host {move.host.host}: {refused}")
    if fault := mover_fault(environment.policy, to, move.by):
        found.append(f"--by: {fault}; let one of them move it")
    if to is not LifecycleState.PRODUCTION or refused:
        return found
    hours = host_states()[state].evidence_hours
    if move.evidence is not None:
        faults = _report_faults(environment, move.host, move.evidence.report, hours, now)
        found += [f"--evidence {move.evidence.file}: {fault}" for fault in faults]
    elif hours is not None and state is not to:
        found.append(
            f"host {move.host.host}: production after {state} requires a passed test of the last {hours}"
            " hours; add --evidence FILE with its report"
        )
    return found


def entry(environment: Environment, move: Move, now: dt.datetime) -> dict[str, str]:
    """Return the fields of the host's entry in ``out_of_service.yaml``, dated ``now``.

    A move without a reason or ticket keeps that of the previous entry.
    """
    known = environment.out_of_service.get(move.host.host)
    reason = move.reason or (known.reason if known else "")
    ticket = move.ticket or (known.ticket if known else None)
    fields = {"state": str(move.to), "since": f"{now.astimezone(dt.UTC):%Y-%m-%d}", "reason": reason}
    optional = {"ticket": ticket, "by": move.by}
    return fields | {name: value for name, value in optional.items() if value}


def _option_faults(environment: Environment, move: Move, state: LifecycleState) -> Iterator[str]:
    """Yield options that are missing, and options without effect."""
    name = move.host.host
    if move.to is LifecycleState.PRODUCTION:
        if move.reason or move.ticket:
            yield "--reason and --ticket describe hosts out of service; omit them with --to production"
        if state is move.to and move.evidence is None:
            yield f"host {name} is already in production; to record a newer test, add --evidence FILE"
        return
    if move.evidence is not None:
        yield f"--evidence requires --to production; omit it with --to {move.to}"
    if state is LifecycleState.PRODUCTION and not move.reason:
        yield f"--reason is required with --to {move.to}; write the cause or the planned work"
    elif state is move.to and not move.reason:
        since = environment.out_of_service[name].since
        yield f"host {name} is already in {state}, since {since}; to renew its entry, add --reason TEXT"


def _report_faults(
    environment: Environment, host: HostSpec, report: HostTestReport, hours: int | None, now: dt.datetime
) -> Iterator[str]:
    """Yield all reasons why ``report`` does not permit production for ``host`` at ``now``."""
    if report.host != host.host:
        yield f"is a report about host {report.host}; pass the report of {host.host}"
    if report.serial is not None and report.serial.casefold() != host.serial.casefold():
        there = place(environment, inventory_file(host.hall), (host.host,))
        yield (
            f"is a report about chassis {report.serial}, but {host.host} has {host.serial} ({there}); correct one of"
            " the two"
        )
    if report.result is Outcome.FAIL or report.failed:
        names = f" ({listed(report.failed, _MOST_TESTS)})" if report.failed else ""
        yield f"the run did not pass{names}; move the host to triage"
    finished = _moment(report.finished)
    if report.finished > now + CLOCK_SKEW:
        yield f"the run ended at {finished}, which is in the future; correct the clock of one of the machines"
    elif hours is not None and now - report.finished > dt.timedelta(hours=hours):
        yield f"the run ended at {finished}, more than {hours} hours ago; {_AGAIN}"
    away = environment.out_of_service.get(host.host)
    if away is not None and report.started.astimezone(dt.UTC).date() < away.since:
        yield (
            f"the run started at {_moment(report.started)}, before the host entered {away.state} on {away.since};"
            f" {_AGAIN}"
        )


def _moment(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
