"""Newer releases of charts in clusters of tenants: which cluster has which, what the channel offers, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.intents.charts import chart_releases, clusters_of_charts
from components.rollout.waves import last_wave
from components.specs.environment import Environment
from components.specs.keys import chart_key, charts_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartUpgrade:
    """A chart of which some cluster has another release than the channel's newest, or that is on its way."""

    chart: str
    clusters: dict[str, str]
    """Version that each cluster has, by cluster."""
    next: str
    """Version that an open rollout goes to, or else the newest that the channel offers."""
    wave: int
    """Last wave that moved; 0 while no rollout is open."""
    do: str
    """What shows the waves."""


def chart_upgrades(environment: Environment) -> Iterator[ChartUpgrade]:
    """Yield the charts that can be promoted, in the order in which the data have them."""
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
