"""Chart releases that change between two states of a region, by cluster, and the affected workloads."""

from collections.abc import Iterator

from components.intents.charts import clusters_of_charts
from components.render.add_ons.node_agents import restarts
from components.specs.environment import Environment
from components.specs.struct import Struct


class MovedChart(Struct):
    """Chart whose release changes in a cluster."""

    cluster: str
    chart: str
    before: str
    """Version before the change."""
    after: str
    """Version after the change."""

    def __str__(self) -> str:
        return f"{self.chart} changes from {self.before} to {self.after}: {restarts(self.chart)}"


def moved_charts(before: Environment, after: Environment) -> Iterator[MovedChart]:
    """Yield charts that are in a cluster before and after, with different releases, in the order of the data."""
    was, will = (environment.versions.installed(environment.region.image_channel) for environment in (before, after))
    had = clusters_of_charts(before)
    for chart, there in clusters_of_charts(after).items():
        for cluster in there:
            old = before.image_pins.charts_of(cluster).get(chart) or was.get(chart)
            new = after.image_pins.charts_of(cluster).get(chart) or will.get(chart)
            if cluster in had.get(chart, ()) and old and new and old.digest != new.digest:
                yield MovedChart(cluster=cluster, chart=chart, before=old.version, after=new.version)
