"""Rules about the life cycle of hosts in a change: allowed transitions, tests before production, and movers."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator

from components.lookups.host_states.movers import mover_fault
from components.lookups.host_states.table import LifecycleState, refusal, state_of
from components.lookups.pools import problem
from components.rules.references import host_problem
from components.rules.rule import AdvisoryPeriod, advisory
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.natural import naturally
from components.specs.reading.loader import OUT_OF_SERVICE
from components.specs.reading.problems import Problem, listed

AREA = "hosts"
"""Prefix of the names of these rules in reports."""
_MAX_NAMES = 3
_STATE = "state"
PERIOD = AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1))


@advisory(PERIOD)
def transition(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report hosts whose state does not follow their state in the base, according to the life cycle of hosts.

    Commands with ``--base`` evaluate this rule. A new host can have any state.
    """
    for host in _kept(base, head):
        text = refusal(state_of(base, host.host), state_of(head, host.host))
        if text is None or state_of(base, host.host) is state_of(head, host.host):
            continue
        text += ", with a separate change for each step"
        if host.host in head.out_of_service:
            yield problem(head, OUT_OF_SERVICE, ("hosts", host.host, _STATE), text, subject=host.host)
        else:
            yield host_problem(head, host, "host", text, host.host)


@advisory(PERIOD)
def tested(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report hosts that enter production without a passed test: hosts that return, and new hosts without a state.

    The test of a host that returns is at most as old as its state in the base. Commands with ``--base`` evaluate this
    rule.
    """
    command = f"jacquard host {head.name} HOST --to production --evidence FILE"
    for host in _kept(base, head):
        away = base.out_of_service.get(host.host)
        if (
            away is None
            or host.host in head.out_of_service
            or refusal(state_of(base, host.host), LifecycleState.PRODUCTION)
        ):
            continue
        test = head.host_tests.get(host.host)
        if test is None or test.passed.astimezone(dt.UTC).date() < away.since:
            text = (
                f"{host.host} returns from {away.state} to production without a passed test since {away.since}; record"
                f" its test: {command}"
            )
            yield host_problem(head, host, "host", text, host.host)
    rows = {host.host: host.serial for host in base.hosts}
    new: dict[str, list[HostSpec]] = defaultdict(list)
    for host in head.hosts:
        is_new = rows.get(host.host) != host.serial and host.host not in head.out_of_service
        if is_new and head.host_tests.get(host.host) in {None, base.host_tests.get(host.host)}:
            new[host.hall].append(host)
    for hall, hosts in new.items():
        names = listed(naturally(host.host for host in hosts), _MAX_NAMES)
        text = (
            f"{names} would enter production without a test; list new hosts in {OUT_OF_SERVICE} with state onboard, or"
            f" record their tests: {command}"
        )
        yield host_problem(head, hosts[0], "host", text, hall)


def _kept(base: Environment, head: Environment) -> Iterator[HostSpec]:
    """Yield the hosts of both sides."""
    rows = {host.host: host.serial for host in base.hosts}
    yield from (host for host in head.hosts if rows.get(host.host) == host.serial)


def movers(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report hosts that were moved to a state by someone whom ``host_movers`` in the base does not list for it.

    The change itself cannot add movers. Commands with ``--base`` evaluate this rule.
    """
    for host in _kept(base, head):
        to, test = state_of(head, host.host), head.host_tests.get(host.host)
        entry = head.out_of_service.get(host.host, test)
        if to is state_of(base, host.host):
            continue
        fault = mover_fault(base.policy, to, entry.by if entry else None)
        if fault is None:
            continue
        text = f"{fault}; one of them moves it: jacquard host {head.name} {host.host} --to {to} --by NAME"
        if host.host in head.out_of_service:
            yield problem(head, OUT_OF_SERVICE, ("hosts", host.host, _STATE), text, subject=host.host)
        else:
            yield host_problem(head, host, "host", text, host.host)


CHANGES = (transition, tested, movers)
"""Rules about the change from a base to a head."""
