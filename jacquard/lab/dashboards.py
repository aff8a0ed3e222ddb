"""Writes the Grafana dashboards of a region with Grafana's SDK: ``python -m jacquard.lab.dashboards``.

The SDK is a dependency of work on this repository only; the written JSON files are part of the library.
"""

from pathlib import Path
from typing import Any

import yaml
from grafana_foundation_sdk.builders import bargauge, dashboard, logs, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders.common import ReduceDataOptions
from grafana_foundation_sdk.builders.dashboard import FieldColor, ThresholdsConfig
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    DataSourceRef,
    LogsSortOrder,
    VizOrientation,
)
from grafana_foundation_sdk.models.dashboard import DataSourceRef as VariableSource
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
    VariableRefresh,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from components.render.region.dashboards import FOLDER, LOGS_PLUGIN

PANELS = Path(__file__).with_name("dashboard_panels.yaml")
_SOURCE = "${datasource}"
_TYPE = "prometheus"
_KINDS: dict[str, Any] = {
    "bars": bargauge.Panel,
    "logs": logs.Panel,
    "map": stat.Panel,
    "stat": stat.Panel,
    "table": table.Panel,
    "timeseries": timeseries.Panel,
}
_WIDTHS = {"bars": 12, "logs": 24, "map": 24, "stat": 6, "table": 12, "timeseries": 12}
_HEIGHTS = {"bars": 8, "logs": 10, "map": 8, "stat": 4, "table": 8, "timeseries": 8}
_LOGS_QUERIES = {"bars": "stats", "logs": "instant", "timeseries": "statsRange"}
"""Type of the query of a panel about logs (VLDS:pkg/plugin/query.go QueryType)."""
_COLORS = ((None, "red"), (0.75, "orange"), (1.0, "green"))
"""Colors of the tiles of a map, each from a value on."""
_MAX_TILES = 1000
"""Maximum number of tiles of a map; Grafana shows 25 by default."""
_MAX_RECORDS = 200
_MAX_VALUES = 500
"""Maximum number of values of a filter about logs."""


class _LogsQuery(Dataquery):
    """Query of the data source for VictoriaLogs, which the SDK lacks (VLDS:src/types.ts Query); its own builder."""

    def __init__(self, expr: str, kind: str, legend: str) -> None:
        self._expr, self._kind, self._legend = expr, kind, legend

    def build(self) -> "_LogsQuery":
        return self

    def to_json(self) -> dict[str, object]:
        """Return the query as Grafana stores it."""
        further = {"maxLines": _MAX_RECORDS} if self._kind == "logs" else {"legendFormat": self._legend}
        return {"refId": "A", "expr": self._expr, "queryType": _LOGS_QUERIES[self._kind], **further}


def dashboards() -> dict[str, str]:
    """Return the dashboards as JSON, by name of the file."""
    rows = yaml.load(PANELS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["dashboards"]
    return {f"{row['name']}.json": _json(row) for row in rows}


def _json(row: dict[str, Any]) -> str:
    sources = row.get("sources")
    source = LOGS_PLUGIN if sources else _TYPE
    variable = dashboard.DatasourceVariable("datasource").label("Data source").type(source)
    builder = (
        dashboard.Dashboard(row["title"])
        .uid(f"jacquard-{row['name']}")
        .tags(["jacquard"])
        .readonly()
        .time("now-6h", "now")
        .refresh("1m")
        .timezone("utc")
        .with_variable(variable.regex(sources) if sources else variable)
    )
    if "filter" in row:
        builder.with_variable(_variable(source, **row["filter"]))
    for number, panel in enumerate(row["panels"], 1):
        builder.with_panel(_panel(source, **panel).id(number))
    return JSONEncoder(sort_keys=True, separators=(",", ":")).encode(builder.build()) + "\n"


def _variable(source: str, label: str, query: str) -> dashboard.QueryVariable:
    values = {"refId": "A", "type": "fieldValue", "field": query, "query": "*", "limit": _MAX_VALUES}
    return (
        dashboard.QueryVariable(label)
        .query(values if source == LOGS_PLUGIN else query)
        .datasource(VariableSource(type_val=source, uid=_SOURCE))
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(multi=True)
        .include_all(include_all=True)
    )


def _panel(
    source: str,
    title: str,
    expr: str,
    kind: str = "timeseries",
    unit: str = "short",
    legend: str = "",
    repeat: str = "",
) -> Any:
    panel = (
        _KINDS[kind]()
        .title(title)
        .datasource(DataSourceRef(type_val=source, uid=_SOURCE))
        .unit(unit)
        .span(_WIDTHS[kind])
        .height(_HEIGHTS[kind])
    )
    if kind == "bars":
        panel.orientation(VizOrientation.HORIZONTAL)
    if kind == "logs":
        panel.show_time(show_time=True).enable_log_details(enable_log_details=True).wrap_log_message(
            wrap_log_message=True
        ).sort_order(LogsSortOrder.DESCENDING)
    if kind == "map":
        _as_map(panel, legend)
    if repeat:
        panel.repeat(repeat)
    if source == LOGS_PLUGIN:
        return panel.with_target(_LogsQuery(expr, kind, legend))
    return panel.with_target(_metrics_query(expr, kind, legend))


def _as_map(panel: stat.Panel, label: str) -> None:
    """Show a tile for each row of the table, with the value of ``label`` as its name, in the order of names.

    Grafana names a row by its only text (GRAFANA:packages/grafana-data/src/field/fieldDisplay.ts
    getSmartDisplayNameForRow).
    """
    steps = [Threshold(value, color) for value, color in _COLORS]
    panel.thresholds(ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)).color_scheme(
        FieldColor().mode(FieldColorModeId.THRESHOLDS)
    )
    panel.color_mode(BigValueColorMode.BACKGROUND_SOLID).text_mode(BigValueTextMode.VALUE_AND_NAME)
    panel.graph_mode(BigValueGraphMode.NONE)
    panel.reduce_options(ReduceDataOptions().values(values=True).limit(_MAX_TILES).calcs([]).fields("/^Value$/"))
    panel.with_transformation(DataTransformerConfig("sortBy", options={"sort": [{"field": label}]}))


def _metrics_query(expr: str, kind: str, legend: str) -> prometheus.Dataquery:
    target = prometheus.Dataquery().ref_id("A").expr(expr).legend_format(legend)
    if kind in {"map", "table"}:
        target.format(PromQueryFormat.TABLE)
    if kind in {"map", "stat", "table"}:
        target.instant()
    return target


def main() -> None:
    """Write the files, and remove files of former dashboards."""
    texts = dashboards()
    for file in FOLDER.glob("*.json"):
        if file.name not in texts:
            file.unlink()
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
