"""What of each chart was looked at: the table in ``docs/charts.md``, refreshed with other golden files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chart_values import chart_of, record, releases, values_of
from environment_data import ENVIRONMENTS
from golden import UPDATE
from helm_charts import CHARTS

from components.specs.loader import load_environment
from components.specs.versions import Chart
from toolchain import paths

PAGE = paths.ROOT / "docs" / "charts.md"
LOOKED_AT = re.compile(
    r"(?<=\| chart \| pinned \| rendered \| values compared with \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*"
)
MADE = re.compile(r"(?<=\| chart \| made from \| values it takes \|\n\|---\|---\|---\|\n)(\|.*\n)*")
NOT_PINNED = {"external-dns"}
"""Charts that are rendered with their defaults, for what may come."""


def pinned() -> list[Chart]:
    return sorted(load_environment("laptop", ENVIRONMENTS).versions.charts, key=lambda one: one.name)


def written(table: re.Pattern[str], rows: str) -> str:
    """Return the rows that the page has, with the right ones put there first when golden files are refreshed."""
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get(UPDATE):
        page = table.sub(lambda _: rows, page)
        PAGE.write_text(page, encoding="utf-8")
    found = table.search(page)
    assert found is not None
    return found[0]


def row(chart: Chart) -> str:
    """Return what was looked at of one chart: its module's version, and the version whose values were recorded."""
    modules = [one.version for one in CHARTS.get(chart.name, ())]
    rendered = f"module {' and '.join(modules)}" if modules else "no"
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
    rows = "".join(map(row, pinned()))

    assert written(LOOKED_AT, rows) == rows
    assert {chart.name for chart in pinned()} >= CHARTS.keys() - NOT_PINNED


def test_the_page_says_what_a_chart_takes_that_the_platform_makes() -> None:
    taken: dict[str, set[str]] = {}
    for item in releases():
        taken.setdefault(chart_of(item), set()).update(paths_of(values_of(item)))
    values = {chart: ", ".join(f"`{path}`" for path in sorted(paths)) or "none" for chart, paths in taken.items()}
    made = [chart for chart in pinned() if chart.made_from]
    rows = "".join(f"| {chart.name} | {chart.made_from} | {values[chart.name]} |\n" for chart in made)

    assert written(MADE, rows) == rows
    assert rows


def test_a_chart_of_upstreams_is_called_what_upstream_calls_it() -> None:
    names = {
        chart.name: (chart.url.rpartition("/")[2], record(chart.name)) for chart in pinned() if not chart.made_from
    }

    assert {name for name, (_, found) in names.items() if found is None} == {"dpf-ovn-vpc"}
    assert {name for name, (called, found) in names.items() if found and found.name != called} == set()


def paths_of(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the path of each value, a list's as that of the whole list."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from paths_of(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"
