"""Chart releases of clusters: the pinned release, or the release of the version vector if the chart is not pinned.

The first promotion of a chart creates the pins of its clusters, wave by wave. Afterwards each cluster with the chart
has a pin; a new cluster gets the most common pin.
"""

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
    """Return the names of the clusters that install each chart, by chart, in the order of the data."""
    names: dict[str, list[str]] = defaultdict(list)
    for placed in clusters(environment):
        for chart in charts_inside(environment, placed):
            names[chart].append(placed.cluster.name)
    return dict(names)


def chart_releases(environment: Environment, wanted: Collection[str] | None = None) -> dict[ChartKey, ChartIntent]:
    """Return the chart intents of clusters, pinned or not, for the ``wanted`` charts (default: all pinned charts)."""
    lock = environment.image_pins
    pinned = {key: lock.chart_intents[name] for key, name in lock.charts.items()}
    return unpinned_charts(environment, wanted) | pinned


def unpinned_charts(environment: Environment, wanted: Collection[str] | None = None) -> dict[ChartKey, ChartIntent]:
    """Return the chart intents of clusters without a pin, for the ``wanted`` charts.

    By default, these are all charts that other clusters have pinned.
    """
    pins = environment.image_pins.charts
    wanted = {domain_of(pool_of(key)) for key in pins} if wanted is None else wanted
    if not wanted:
        return {}
    installed = environment.versions.installed(environment.region.image_channel)
    return {
        key: ChartIntent.of(installed[name])
        for name, cluster_names in clusters_of_charts(environment).items()
        if name in wanted and name in installed
        for cluster in cluster_names
        if (key := chart_key(name, cluster)) not in pins
    }


def chart_pins(environment: Environment) -> dict[ChartKey, IntentName]:
    """Return the chart pins of clusters; a cluster that newly installs a pinned chart gets the most common pin.

    During a promotion a new cluster gets the previous release and is added to a later wave.
    """
    pins = environment.image_pins
    if not pins.charts:
        return {}
    result: dict[ChartKey, IntentName] = {}
    for chart, names in clusters_of_charts(environment).items():
        kept = {key: pins.charts[key] for name in names if (key := chart_key(chart, name)) in pins.charts}
        count = Counter(kept.values())
        if kept and charts_key(chart) not in pins.rollouts:
            usual = max(count, key=lambda name: (count[name], name))
            kept |= {key: kept.get(key, usual) for name in names if (key := chart_key(chart, name))}
        result |= kept
    return result


def chart_objections(environment: Environment, intent: ChartIntent, there: Iterable[str]) -> dict[str, str]:
    """Return the reasons why clusters in ``there`` may not run the release of ``intent``; empty if all may.

    Returns:
        Rule by text: the policy that a waiver would name, or FORM.
    """
    channel, label = environment.region.image_channel, f"{intent.chart} {intent.version}"
    chart = environment.versions.release_of(intent.chart, intent.version)
    if chart is None:
        return {f"{label} is no longer in charts of {VERSIONS}; add it again": FORM}
    if all(_may_have_any(environment, intent.chart, cluster) for cluster in there):
        return {}
    rules = {}
    if chart.revoked:
        rules[f"{label} is revoked: {chart.revoked}"] = str(RuleId.CHART_OUTSIDE_CHANNEL)
    if not chart.offered_by(channel):
        text = f"{label} is in {', '.join(chart.channel)}, not in channel {channel} of {REGION}"
        rules[text] = str(RuleId.CHART_OUTSIDE_CHANNEL)
    return rules


def _may_have_any(environment: Environment, chart: str, cluster: str) -> bool:
    """Return whether the policy rule is advisory, or a waiver covers the chart source of the cluster."""
    rule = RuleId.CHART_OUTSIDE_CHANNEL
    if environment.policy.rules.get(rule) is Enforcement.ADVISORY:
        return True
    return longest_waiver(environment.waivers.waivers, rule, (f"OCIRepository {cluster}/{chart}",)) is not None
