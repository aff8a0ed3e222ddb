"""Which values a release of a chart takes from the data, and which of those that are set another release would not."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.add_on_values import overrides
from components.lookups.add_ons import add_ons
from components.lookups.pools import clusters, place
from components.render.add_ons.reserved_values import why_kept
from components.specs.add_ons.add_on_values import ChartValue, unfit
from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import listed, shown, suggestion
from components.specs.region.versions import Chart

_MOST_NAMED = 5


def objection(environment: Environment, chart: Chart, path: str, value: ChartValue) -> str:
    """Return why the data cannot set the value of ``chart`` at ``path`` to ``value``; nothing where they can."""
    if why := why_kept(chart.name, path):
        return f"is kept by the library: {why}; remove it"
    if path not in chart.tunable:
        there = place(environment, VERSIONS, ("charts", environment.versions.charts.index(chart)))
        other = f" or pick one{suggestion(path, chart.tunable)}" if chart.tunable else ""
        return (
            f"'{path}' is not in tunable of {chart.name} {chart.version} ({there}:"
            f" {listed(chart.tunable, _MOST_NAMED)}); remove it{other}"
        )
    wanted = unfit(value, chart.tunable[path])
    rule, _, meant = wanted.partition(";")
    return f"must be {rule} (got {shown(value)}){';' if meant else ''}{meant}" if wanted else ""


def set_in_vain(environment: Environment, chart: Chart) -> Iterator[str]:
    """Yield values that are set in a cluster with ``chart`` and that this release of it does not take, each once."""
    found: dict[str, None] = {}
    for placed in clusters(environment):
        written = overrides(environment, placed.cluster)
        for entry in add_ons(environment, placed):
            for one in written.get(entry.name, ()) if entry.chart == chart.name else ():
                if text := objection(environment, chart, one.path, one.value):
                    found[f"add_on_values.{entry.name}.values.{one.path} of {placed.cluster.name}: {text}"] = None
    yield from found
