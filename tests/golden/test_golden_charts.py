"""Verified parts of each chart: the table in ``docs/charts.md``, refreshed with the other golden files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.render.add_ons.add_on_values import VALUES
from components.specs.reading.loader import load_environment
from components.specs.region.versions import Chart
from jacquard.machine import paths
from tests.support.add_ons.chart_values import chart_of, record, releases, values_of
from tests.support.add_ons.cluster_shape import facts
from tests.support.add_ons.helm_charts import CHARTS, Helm
from tests.support.checks.golden import UPDATE
from tests.support.data.environment_data import ENVIRONMENTS

PAGE = paths.ROOT / "docs/add-ons/charts.md"
LOOKED_AT = re.compile(
    r"(?<=\| chart \| pinned \| rendered \| values compared with \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*"
)
MADE = re.compile(r"(?<=\| chart \| made from \| values it takes \|\n\|---\|---\|---\|\n)(\|.*\n)*")
LEFT_OUT = re.compile(
    r"(?<=\| chart \| webhooks \| kinds converted by one \| hooks \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*"
)
FACTS = facts(nodes=10, system_pool=True)
NOT_PINNED = {"external-dns"}
"""Charts without a pin, rendered with their defaults."""


def pinned() -> list[Chart]:
    return sorted(load_environment("laptop", ENVIRONMENTS).versions.charts, key=lambda one: one.name)


def written(table: re.Pattern[str], rows: str) -> str:
    """Return the rows of the page, after updating them if golden files are refreshed."""
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get(UPDATE):
        page = table.sub(lambda _: rows, page)
        PAGE.write_text(page, encoding="utf-8")
    found = table.search(page)
    assert found is not None
    return found[0]


def row(chart: Chart) -> str:
    """Return the verified parts of one chart: its module's version, and the version of the recorded values."""
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


def test_the_table_lists_the_verified_parts_of_each_chart() -> None:
    rows = "".join(map(row, pinned()))

    assert written(LOOKED_AT, rows) == rows
    assert {chart.name for chart in pinned()} >= CHARTS.keys() - NOT_PINNED


def test_the_page_lists_chart_values_that_the_platform_sets() -> None:
    taken: dict[str, set[str]] = {}
    for item in releases():
        taken.setdefault(chart_of(item), set()).update(paths_of(values_of(item)))
    values = {chart: ", ".join(f"`{path}`" for path in sorted(paths)) or "none" for chart, paths in taken.items()}
    made = [chart for chart in pinned() if chart.made_from]
    rows = "".join(f"| {chart.name} | {chart.made_from} | {values[chart.name]} |\n" for chart in made)

    assert written(MADE, rows) == rows
    assert rows


def test_the_page_lists_omitted_parts_of_real_charts(tmp_path: Path) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    helm, versions = Helm(tmp_path, environment.versions.kubernetes[-1]), {one.name: one.version for one in pinned()}
    rows = ""
    for entry in sorted(environment.add_ons.add_ons, key=lambda entry: entry.chart):
        if helm.has(entry.chart, versions[entry.chart]):
            values = VALUES[entry.chart](FACTS)
            found = helm.template(entry.chart, entry.name, entry.namespace, values, hooks=True)
            rows += f"| {entry.chart} | {' | '.join(', '.join(cell) or 'none' for cell in left_out(found))} |\n"

    assert written(LEFT_OUT, rows) == rows


def left_out(found: list[dict[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """Return webhooks by configuration, converted kinds, and jobs that are hooks."""
    hooks = {one["metadata"]["name"]: (one["metadata"].get("annotations") or {}).get("helm.sh/hook") for one in found}
    return (
        [f"`{one['metadata']['name']}` ({verb(one)} {len(one['webhooks'])})" for one in found if "webhooks" in one],
        [
            f"`{one['metadata']['name']}`"
            for one in found
            if one["kind"] == "CustomResourceDefinition" and "webhook" in one["spec"].get("conversion", {})
        ],
        [f"`{name}` ({hook})" for name, hook in hooks.items() if hook and is_job(found, name)],
    )


def verb(configuration: dict[str, Any]) -> str:
    """Return the operation of webhooks of a configuration."""
    return "mutating" if configuration["kind"].startswith("Mutating") else "validating"


def is_job(found: list[dict[str, Any]], name: str) -> bool:
    return any((one["kind"], one["metadata"]["name"]) == ("Job", name) for one in found)


def test_upstream_charts_have_their_upstream_names() -> None:
    names = {
        chart.name: (chart.url.rpartition("/")[2], record(chart.name)) for chart in pinned() if not chart.made_from
    }

    assert {name for name, (_, found) in names.items() if found is None} == set()
    # This record has no name; upstream's is in DPF:dpuservices/ovnvpc/vpc/chart/README.md.
    assert {name for name, (called, found) in names.items() if found and found.name != called} == {"dpf-vpc-ovn"}


def paths_of(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the path of each value; a list counts as one value."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from paths_of(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"
