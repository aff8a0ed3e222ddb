"""Available upgrades of charts in tenants' clusters: current versions, newest release, and promotion command."""

from collections.abc import Iterator

from components.intents.charts import chart_releases, clusters_of_charts
from components.rollout.waves import last_wave
from components.specs.environment import Environment
from components.specs.keys import chart_key, charts_key
from components.specs.struct import Struct


class ChartUpgrade(Struct):
    """Chart with an open rollout, or with a cluster that does not have the channel's newest release."""

    chart: str
    clusters: dict[str, str]
    """Current version by cluster."""
    next: str
    """Target version of the open rollout, or else the newest version in the channel."""
    wave: int
    """Last promoted wave; 0 if no rollout is open."""
    do: str
    """Command that lists the waves."""


def chart_upgrades(environment: Environment) -> Iterator[ChartUpgrade]:
    """Yield the charts that can be promoted, in the order of the data."""
    lock, channel = environment.image_pins, environment.region.image_channel
    every = clusters_of_charts(environment)
    has = chart_releases(environment, every)
    for chart, there in every.items():
        versions = {name: has[chart_key(chart, name)].version for name in there}
        opened, newest = lock.rollouts.get(charts_key(chart)), environment.versions.newest(chart, channel)
        target = lock.chart_intents[opened.to].version if opened else (newest.version if newest else None)
        if target is None or set(versions.values()) == {target}:
            continue
        way = "--rollback" if opened and opened.rollback else f"--to {target}"
        yield ChartUpgrade(
            chart=chart,
            clusters=versions,
            next=target,
            wave=last_wave(lock, charts_key(chart)),
            do=f"jacquard promote {environment.name} {charts_key(chart)} {way} --plan",
        )
