"""Which release of a chart each cluster has: its pin, or what the version vector installs where nothing is pinned.

The first promotion of a chart pins it, cluster by cluster, as waves move it. From then on each cluster that has the
chart has a pin, a new one that of most others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from components.lookups.charts import charts_inside
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.keys import ChartKey, chart_key, charts_key, domain_of, pool_of
from components.specs.pools.intents import ChartIntent, IntentName
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import FORM
from components.specs.region.policy import Enforcement, RuleId, longest_waiver


def clusters_of_charts(environment: Environment) -> dict[str, list[str]]:
    """Return by chart the clusters that have it, in the order of the data."""
    found: dict[str, list[str]] = defaultdict(list)
    for placed in clusters(environment):
        for chart in charts_inside(environment, placed):
            found[chart].append(placed.cluster.name)
    return dict(found)


def chart_releases(environment: Environment, wanted: Collection[str] | None = None) -> dict[ChartKey, ChartIntent]:
    """Return what clusters have of the charts that are ``wanted``, pinned or not; of all that are pinned by default."""
    lock = environment.image_pins
    pinned = {key: lock.chart_intents[name] for key, name in lock.charts.items()}
    return unpinned_charts(environment, wanted) | pinned


def unpinned_charts(environment: Environment, wanted: Collection[str] | None = None) -> dict[ChartKey, ChartIntent]:
    """Return what clusters without a pin have of the charts that are ``wanted``.

    By default these are all that are pinned in other clusters.
    """
    pins = environment.image_pins.charts
    wanted = {domain_of(pool_of(key)) for key in pins} if wanted is None else wanted
    if not wanted:
        return {}
    installed = environment.versions.installed(environment.region.image_channel)
    return {
        key: ChartIntent.of(installed[name])
        for name, there in clusters_of_charts(environment).items()
        if name in wanted and name in installed
        for cluster in there
        if (key := chart_key(name, cluster)) not in pins
    }


def chart_pins(environment: Environment) -> dict[ChartKey, IntentName]:
    """Return the pins of charts that clusters keep, and for one that is new to a pinned chart that of most others.

    While a chart is promoted a new cluster has what the waves began with, and is part of a later one.
    """
    pins = environment.image_pins
    if not pins.charts:
        return {}
    found: dict[ChartKey, IntentName] = {}
    for chart, there in clusters_of_charts(environment).items():
        kept = {key: pins.charts[key] for name in there if (key := chart_key(chart, name)) in pins.charts}
        count = Counter(kept.values())
        if kept and charts_key(chart) not in pins.rollouts:
            usual = max(count, key=lambda name: (count[name], name))
            kept |= {key: kept.get(key, usual) for name in there if (key := chart_key(chart, name))}
        found |= kept
    return found


def chart_objections(environment: Environment, intent: ChartIntent, there: Iterable[str]) -> dict[str, str]:
    """Return why not all clusters ``there`` may have what ``intent`` says; empty when they may.

    Returns:
        By text the policy that asks for it, whose name a waiver gives, or else FORM.
    """
    channel, called = environment.region.image_channel, f"{intent.chart} {intent.version}"
    chart = environment.versions.release_of(intent.chart, intent.version)
    if chart is None:
        return {f"{called} is not in charts of {VERSIONS} any more; add it there again": FORM}
    if all(_may_have_any(environment, intent.chart, cluster) for cluster in there):
        return {}
    found = {}
    if chart.revoked:
        found[f"{called} is revoked: {chart.revoked}"] = str(RuleId.CHART_OUTSIDE_CHANNEL)
    if not chart.offered_by(channel):
        text = f"{called} is in {', '.join(chart.channel)}, not in channel {channel} of {REGION}"
        found[text] = str(RuleId.CHART_OUTSIDE_CHANNEL)
    return found


def _may_have_any(environment: Environment, chart: str, cluster: str) -> bool:
    """Tell whether the policy rule only tells about the releases of a cluster, or a waiver names its source."""
    rule = RuleId.CHART_OUTSIDE_CHANNEL
    if environment.policy.rules.get(rule) is Enforcement.ADVISORY:
        return True
    return longest_waiver(environment.waivers.waivers, rule, (f"OCIRepository {cluster}/{chart}",)) is not None
