"""Writes the Grafana dashboards of a region with Grafana's SDK: ``python -m jacquard.lab.dashboards``.

The SDK is a dependency of work on this repository only; the written JSON files are part of the library.
"""

from pathlib import Path
from typing import Any

import yaml
from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.dashboard import DataSourceRef as VariableSource
from grafana_foundation_sdk.models.dashboard import VariableRefresh
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from components.render.region.dashboards import FOLDER

PANELS = Path(__file__).with_name("dashboard_panels.yaml")
_SOURCE = "${datasource}"
_TYPE = "prometheus"
_KINDS: dict[str, Any] = {"stat": stat.Panel, "table": table.Panel, "timeseries": timeseries.Panel}
_WIDTHS = {"stat": 6, "table": 12, "timeseries": 12}
_HEIGHTS = {"stat": 4, "table": 8, "timeseries": 8}


def dashboards() -> dict[str, str]:
    """Return the dashboards as JSON, by name of the file."""
    rows = yaml.load(PANELS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["dashboards"]
    return {f"{row['name']}.json": _json(row) for row in rows}


def _json(row: dict[str, Any]) -> str:
    builder = (
        dashboard.Dashboard(row["title"])
        .uid(f"jacquard-{row['name']}")
        .tags(["jacquard"])
        .readonly()
        .time("now-6h", "now")
        .refresh("1m")
        .timezone("utc")
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type(_TYPE))
    )
    if "filter" in row:
        builder.with_variable(_variable(**row["filter"]))
    for number, panel in enumerate(row["panels"], 1):
        builder.with_panel(_panel(**panel).id(number))
    return JSONEncoder(sort_keys=True, separators=(",", ":")).encode(builder.build()) + "\n"


def _variable(label: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(label)
        .query(query)
        .datasource(VariableSource(type_val=_TYPE, uid=_SOURCE))
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(multi=True)
        .include_all(include_all=True)
    )


def _panel(title: str, expr: str, kind: str = "timeseries", unit: str = "short", legend: str = "") -> Any:
    target = prometheus.Dataquery().ref_id("A").expr(expr).legend_format(legend)
    if kind == "table":
        target.format(PromQueryFormat.TABLE)
    if kind in {"stat", "table"}:
        target.instant()
    return (
        _KINDS[kind]()
        .title(title)
        .datasource(DataSourceRef(type_val=_TYPE, uid=_SOURCE))
        .unit(unit)
        .span(_WIDTHS[kind])
        .height(_HEIGHTS[kind])
        .with_target(target)
    )


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
