"""Rules about charts in tenants' clusters: pinned to catalogue releases, and uniform except during a rollout."""

from collections import defaultdict
from collections.abc import Iterator

from components.intents.charts import chart_objections, chart_releases, clusters_of_charts
from components.lookups.pools import place, problem
from components.reports.moved_charts import MovedChart, moved_charts
from components.rules.region.running import running_nodes
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import chart_key, charts_key, domain_of, pool_of
from components.specs.pools.intents import ChartIntent
from components.specs.reading.loader import IMAGE_PINS, REGION, VERSIONS
from components.specs.reading.problems import FORM, Problem, listed, suggestion


def canary_tenants(environment: Environment) -> Iterator[Problem]:
    """Report undeclared canary tenants."""
    declared = [tenant.tenant for tenant in environment.tenants]
    for index, tenant in enumerate(environment.region.chart_rollouts.canary_tenants):
        if tenant not in declared:
            text = (
                f"'{tenant}' has no file tenants/{tenant}.yaml (tenants: {listed(declared)}); remove it or pick one"
                f"{suggestion(tenant, declared)}"
            )
            yield problem(environment, REGION, ("chart_rollouts", "canary_tenants", index), text)


def pins(environment: Environment) -> Iterator[Problem]:
    """Report pinned releases that are no longer allowed, and releases whose digest changed without a new version."""
    lock, rows = environment.image_pins, environment.versions.charts
    for key, name in lock.charts.items():
        intent, path = lock.chart_intents[name], ("charts", key)
        newest = environment.versions.newest(intent.chart, environment.region.image_channel)
        remedy = f"add one to {VERSIONS} that channel {environment.region.image_channel} offers"
        if newest is not None and newest.version != intent.version:
            promoted = charts_key(intent.chart)
            remedy = f"run jacquard promote {environment.name} {promoted} --to {newest.version}"
        for objection, rule in chart_objections(environment, intent, (domain_of(key),)).items():
            text = f"{objection}{', or' if rule == FORM else ';'} {remedy}"
            yield problem(environment, IMAGE_PINS, path, text, rule=rule)
        row = environment.versions.release_of(intent.chart, intent.version)
        if row is not None and row.digest != intent.digest:
            there = place(environment, VERSIONS, ("charts", rows.index(row), "digest"))
            text = (
                f"{intent.digest[:19]}... is not the digest of {row.name} {row.version} ({row.digest[:19]}...,"
                f" {there}); a release never changes under its version, restore the digest that was published"
            )
            yield problem(environment, IMAGE_PINS, path, text)


def in_use(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report edits of catalogue rows that would upgrade a chart in all clusters with nodes together, without waves.

    Commands with ``--base`` evaluate this rule. A waiver with the chart as its subject permits the upgrade.
    """
    nodes = running_nodes(base)
    moved: dict[str, list[MovedChart]] = defaultdict(list)
    for change in moved_charts(base, head):
        if nodes["clusters", change.cluster] and change.chart not in head.image_pins.charts_of(change.cluster):
            moved[change.chart].append(change)
    for chart, changes in moved.items():
        before, after = changes[0].before, changes[0].after
        row = head.versions.installed(head.region.image_channel)[chart]
        path = ("charts", head.versions.charts.index(row), "version")
        names = [change.cluster for change in changes]
        text = (
            f"{after} instead of {before} would upgrade {chart} in {listed(names)} together, without waves; restore"
            f" {before}, add {after} as a separate row below, and run jacquard promote {head.name}"
            f" {charts_key(chart)} --to {after} --wave 1"
        )
        yield problem(head, VERSIONS, path, text, subject=chart)


def mixed(environment: Environment) -> Iterator[Problem]:
    """Report charts whose releases differ without an open rollout, and clusters that would bypass an open rollout."""
    lock = environment.image_pins
    if not lock.charts:
        return
    has = chart_releases(environment)
    for chart, there in clusters_of_charts(environment).items():
        keys = [key for name in there if (key := chart_key(chart, name)) in has]
        opened = lock.rollouts.get(charts_key(chart))
        if opened is None:
            yield from _unlike(environment, {key: has[key] for key in keys})
            continue
        for key in keys:
            if key not in lock.charts and has[key].name != opened.before:
                yield _replaced(environment, key, has[key], lock.chart_intents[opened.before])


def _unlike(environment: Environment, has: dict[str, ChartIntent]) -> Iterator[Problem]:
    """Yield a problem if two clusters have different releases."""
    first = next(iter(has), "")
    other = next((key for key in has if has[key].name != has[first].name), None)
    if other is None or other not in environment.image_pins.charts:
        return  # Another rule reports a missing pin.
    promoted = charts_key(has[first].chart)
    newest = environment.versions.newest(has[first].chart, environment.region.image_channel)
    version = newest.version if newest else has[first].version
    text = (
        f"{has[other].name} differs from {has[first].name} of {domain_of(first)}, and no rollout of {promoted} is open;"
        f" make it uniform: jacquard promote {environment.name} {promoted} --to {version}"
    )
    yield problem(environment, IMAGE_PINS, ("charts", other), text)


def _replaced(environment: Environment, key: str, now: ChartIntent, before: ChartIntent) -> Problem:
    """Return the problem of an unpinned cluster whose chart a catalogue edit would upgrade outside the open rollout."""
    rows = environment.versions.charts
    path = ("charts", next(index for index, row in enumerate(rows) if row.name == now.chart), "version")
    text = (
        f"{domain_of(key)} has no pin yet and would get {now.version} outside the open rollout of {pool_of(key)};"
        f" restore {before.version} here, and add {now.version} as a separate row below"
    )
    return problem(environment, VERSIONS, path, text)


CHANGES = (in_use,)
"""Rules about the change from a base to a head."""
RULES = Rules(data=(canary_tenants,), locks=(pins, mixed), promoted=(pins, mixed))
