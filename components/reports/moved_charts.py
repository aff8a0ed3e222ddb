"""Which clusters get another release of a chart between two states of a region, and what restarts there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.intents.charts import clusters_of_charts
from components.render.add_ons.node_agents import restarts
from components.specs.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedChart:
    """A chart of which a cluster gets another release."""

    cluster: str
    chart: str
    before: str
    """Version that the cluster had."""
    after: str
    """Version that it gets."""

    def __str__(self) -> str:
        return f"{self.chart} goes from {self.before} to {self.after}, where {restarts(self.chart)}"


def moved_charts(before: Environment, after: Environment) -> Iterator[MovedChart]:
    """Yield the charts of which clusters that have them on both sides get another release, in the order of the data."""
    was, will = (one.versions.installed(one.region.image_channel) for one in (before, after))
    had = clusters_of_charts(before)
    for chart, there in clusters_of_charts(after).items():
        for cluster in there:
            old = before.image_pins.charts_of(cluster).get(chart) or was.get(chart)
            new = after.image_pins.charts_of(cluster).get(chart) or will.get(chart)
            if cluster in had.get(chart, ()) and old and new and old.digest != new.digest:
                yield MovedChart(cluster=cluster, chart=chart, before=old.version, after=new.version)
