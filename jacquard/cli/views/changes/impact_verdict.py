"""Verdict on the impact of a change: totals first, then a sentence per effect, worst first."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect, Subject
from components.specs.keys import pool_of
from components.specs.reading.problems import listed, visible
from jacquard.cli.console import long_duration, plural
from jacquard.cli.views.changes import impact_checks
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact, Occupancy, Row, Totals
from jacquard.previews.impacts.machines import MACHINES
from jacquard.previews.impacts.occupancy import utc_text

_LISTED = (Effect.UNKNOWN, Effect.REFUSED, *reversed(DISRUPTIVE), Effect.RESTARTED)
"""Effects with a sentence, worst first; provisioning and scaling are reported after them."""
_MOST = 10
_NOUNS = {Subject.HOSTS: "host", Subject.DPUS: "DPU"}


def verdict(impact: Impact, now: dt.datetime | None = None) -> Iterator[str]:
    """Yield the totals, then the effects; ``now`` is the time for the age of facts, None omits the age."""
    yield from [first] if (first := summary(impact)) else ()
    yield from effect_sentences(impact, now)


def effect_sentences(impact: Impact, now: dt.datetime | None = None) -> Iterator[str]:
    """Yield a sentence per effect, worst first, then provisioning, scaling, promotions, occupancy and checks."""
    has_effects = False
    for item in impact.without_gpus:
        counted = f"{plural(item.nodes, 'node')} ({plural(item.gpus, 'GPU')}) of {item.cluster}"
        yield f"no GPUs for new pods: {counted}, whose running pods continue"
    for effect in _LISTED:
        if rows := [row for row in impact.rows if row.effect is effect]:
            yield f"{effect}: {'; '.join(_of_effect(effect, rows))}"
            has_effects = True
    if provisioned := [row for row in impact.rows if row.effect is Effect.PROVISIONED]:
        yield _of_idle_hosts(provisioned)
    if scaled := [row for row in impact.rows if row.effect is Effect.SCALES and row.change is not None]:
        yield _of_sizes(scaled)
    elif not (has_effects or provisioned):
        yield "no node, host or DPU is affected" if impact.rows else "no running workload is affected"
    if waiting := [f"{item.pool} ({listed(item.fields)})" for item in impact.behind if item.new]:
        yield f"takes effect with a promotion: {listed(waiting, _MOST)}"
    if impact.occupancy:
        yield sentence(impact.occupancy, impact.facts_at, now)
    yield from impact_checks.sentences(impact)


def summary(impact: Impact) -> str:
    """Return the first line: disrupted nodes, GPUs and tenants, duration and required approvals; empty without any."""
    totals, notes = impact.totals, []
    if totals.nodes:
        notes.append(
            f"disrupts {plural(totals.nodes, 'node')}, {plural(totals.gpus, 'GPU')}, "
            f"{plural(len(totals.tenants), 'tenant')}"
        )
        notes += [f"at most {totals.out_at_once} unavailable at a time"] if totals.out_at_once else []
        notes += [_length(totals)]
    waiting = [tenant.tenant for tenant in impact.tenants if tenant.missing]
    notes += [f"needs approval of {listed(waiting, _MOST)}"] if waiting else []
    frozen = dict.fromkeys(freeze.name for tenant in impact.tenants for freeze in tenant.freezes)
    notes += [f"freezes: {listed(frozen, _MOST)}"] if frozen else []
    return "; ".join(notes)


def _length(totals: Totals) -> str:
    if not totals.timed:
        return "duration unknown without nodes.durations"
    if totals.minutes is None:
        return "one by one by an operator" if totals.by_hand else "immediately"
    return f"longest {long_duration(totals.minutes)}"


def _of_effect(effect: Effect, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the affected nodes, then hosts and DPUs, then other subjects, with the parts that they belong to."""
    nodes = [row for row in rows if row.falls_on is Subject.NODES]
    if nodes:
        yield _of_nodes(effect, nodes)
    for subject in MACHINES:
        machines = [row for row in rows if row.falls_on is subject]
        if machines:
            yield _of_machines(machines)
    others: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row.falls_on not in (Subject.NODES, *MACHINES):
            others[row.part][row.falls_on] = None
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for part, subjects in others.items():
        alike[tuple(subjects)].append(part)
    yield from (f"{listed(subjects)} of {listed(parts, _MOST)}" for subjects, parts in alike.items())


def _of_nodes(effect: Effect, rows: Sequence[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) or row.part for row in rows), _MOST)
    if effect is Effect.UNKNOWN:
        return f"effect on nodes of {pools}"
    return f"{_counted(rows, 'node')} of {pools}"


def _of_machines(rows: Sequence[Row]) -> str:
    """Return the number of hosts or DPUs of ``rows``, or the subject if the number is unknown."""
    parts = listed(dict.fromkeys(row.part for row in rows), _MOST)
    if any(row.count is None for row in rows):
        return f"{rows[0].falls_on} of {parts}"
    return f"{_counted(rows, _NOUNS[rows[0].falls_on])} of {parts}"


def _of_idle_hosts(rows: Sequence[Row]) -> str:
    hosts = {host for row in rows for host in row.hosts}
    parts = listed(dict.fromkeys(row.part for row in rows), _MOST)
    return f"provisioned: {plural(len(hosts), 'host')} without a node of {parts}"


def _counted(rows: Sequence[Row], noun: str) -> str:
    count, gpus = sum(row.count or 0 for row in rows), sum(row.gpus or 0 for row in rows)
    with_gpus = f" ({plural(gpus, 'GPU')})" if gpus else ""
    return f"{plural(count, noun)}{with_gpus}"


def _of_sizes(rows: Sequence[Row]) -> str:
    pools = listed(dict.fromkeys(pool_of(row.part) for row in rows), _MOST)
    added = sum(max(0, row.change or 0) for row in rows)
    removed = sum(max(0, -(row.change or 0)) for row in rows)
    moves = [f"{plural(added, 'node')} added"] * bool(added) + [f"{plural(removed, 'node')} removed"] * bool(removed)
    return f"scales: {' and '.join(moves) or 'autoscaling limits changed'} in {pools}"


def sentence(occupancy: Occupancy, at: dt.datetime | None, now: dt.datetime | None) -> str:
    """Return the occupied nodes, pods and GPUs by tenant, the time ``at`` of the facts, and what the facts omit."""
    if at is None:
        return f"occupied by jobs: unknown; {visible(occupancy.unknown or '')}"
    age = f", {plural(max(0, round((now - at).total_seconds() / 60)), 'minute')} old" if now else ""
    known = [
        f"{item.tenant} {plural(item.nodes, 'node')} with {plural(item.pods, 'pod')} on {plural(item.gpus, 'GPU')}"
        for item in occupancy.tenants
    ]
    figures = ", ".join([*known, *["unknown"] * bool(occupancy.unknown)]) or "none"
    why = f"; {occupancy.unknown}" if occupancy.unknown else ""
    return visible(f"occupied by jobs (estimate from facts of {utc_text(at)}{age}): {figures}{why}")
