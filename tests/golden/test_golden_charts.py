"""What of each chart was looked at: the table in ``docs/charts.md``, refreshed with other golden files."""

from __future__ import annotations

import os
import re

from chart_values import record
from environment_data import ENVIRONMENTS
from golden import UPDATE
from helm_charts import CHARTS, FAMILY

from components.specs.loader import load_environment
from components.specs.versions import Chart
from toolchain import paths, versions

PAGE = paths.ROOT / "docs" / "charts.md"
TABLE = re.compile(r"(?<=\| chart \| pinned \| rendered \| values compared with \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*")


def row(chart: Chart) -> str:
    """Return what was looked at of one chart: its module's version, and the version whose values were recorded."""
    module = next((data.module for data in FAMILY.data if data.name == chart.name), None)
    rendered = f"module {versions.of_module(FAMILY.folder / 'go.mod', module)}" if module else "no"
    found = record(chart.name)
    compared = (
        "nothing"
        if found is None
        else "the same"
        if found.version.lstrip("v") == chart.version.lstrip("v")
        else found.version
    )
    return f"| {chart.name} | {chart.version} | {rendered} | {compared} |\n"


def test_the_table_says_of_each_chart_what_was_looked_at() -> None:
    page = PAGE.read_text(encoding="utf-8")
    charts = load_environment("laptop", ENVIRONMENTS).versions.charts
    rows = "".join(map(row, sorted(charts, key=lambda one: one.name)))
    if os.environ.get(UPDATE):
        page = TABLE.sub(lambda _: rows, page)
        PAGE.write_text(page, encoding="utf-8")

    found = TABLE.search(page)

    assert found is not None
    assert found[0] == rows
    assert {chart.name for chart in charts} >= CHARTS.keys() - NOT_PINNED


NOT_PINNED = {"external-dns"}
"""Charts that are rendered with their defaults, for what may come."""
