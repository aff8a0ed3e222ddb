"""Checks of the chart values in the data against the values that a release permits."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons, overrides
from components.lookups.pools import clusters, place
from components.render.add_ons.reserved_values import reservation_reason
from components.specs.add_ons.add_on_values import ChartValue, unmet_requirement
from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import listed, shown, suggestion
from components.specs.region.versions import Chart

_MOST_NAMED = 5


def objection(environment: Environment, chart: Chart, path: str, value: ChartValue) -> str:
    """Return why the data cannot set the value of ``chart`` at ``path`` to ``value``; empty if they can."""
    if why := reservation_reason(chart.name, path):
        return f"is reserved by the library: {why}; remove it"
    if path not in chart.tunable:
        where = place(environment, VERSIONS, ("charts", environment.versions.charts.index(chart)))
        other = f" or pick one{suggestion(path, chart.tunable)}" if chart.tunable else ""
        return (
            f"'{path}' is not in tunable of {chart.name} {chart.version} ({where}:"
            f" {listed(chart.tunable, _MOST_NAMED)}); remove it{other}"
        )
    expected = unmet_requirement(value, chart.tunable[path])
    rule, _, hint = expected.partition(";")
    return f"must be {rule} (got {shown(value)}){';' if hint else ''}{hint}" if expected else ""


def set_in_vain(environment: Environment, chart: Chart) -> Iterator[str]:
    """Yield a distinct message for each value that the data set in clusters and that the release ``chart`` rejects."""
    messages: dict[str, None] = {}
    for placed in clusters(environment):
        written = overrides(environment, placed.cluster)
        for entry in add_ons(environment, placed):
            for override in written.get(entry.name, ()) if entry.chart == chart.name else ():
                if text := objection(environment, chart, override.path, override.value):
                    value_of = f"add_on_values.{entry.name}.values.{override.path} of {placed.cluster.name}"
                    messages[f"{value_of}: {text}"] = None
    yield from messages
