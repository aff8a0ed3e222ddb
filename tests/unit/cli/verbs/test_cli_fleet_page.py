"""The page that ``jacquard fleet --html`` writes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.reports.fleet.fleet import CampaignReport, FleetReport, fleet_report
from components.specs.reading.fleet import load_fleet
from components.specs.struct import replace
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.region.fleet import sections
from jacquard.cli.views.report.fleet import html
from tests.support.data.environment_data import ENVIRONMENTS, REFERENCES, reference
from tests.support.docs.strict_html import page

Invoke = Callable[..., Result]
NOW = dt.datetime(2026, 11, 28, 12, tzinfo=dt.UTC)
HOSTILE = "<script>alert(1)</script>\"' \x1b[31m {{ 7*7 }}"


@pytest.fixture(scope="module")
def shipped() -> FleetReport:
    """The report for the regions of the project."""
    return fleet_report(load_fleet(ENVIRONMENTS), [reference(name) for name in REFERENCES], NOW.date())


def test_it_is_well_formed_loads_nothing_and_has_all_tables_of_the_terminal(shipped: FleetReport) -> None:
    found = page(html(shipped, NOW))

    assert next(one.text for one in found.all("title")) == "Fleet"
    assert not {"script", "img", "link", "iframe"} & {one.name for one in found.walk()}
    titles = [section.all("h2")[0].text for section in found.all("section")]
    assert titles == ["Orderable nodes", *(section.title for section in sections(shipped, NOW))]
    assert all(found.by_id(str(one.attributes["aria-labelledby"])).name == "h2" for one in found.all("table"))


def test_figures_and_bars_are_those_of_the_report(shipped: FleetReport) -> None:
    found = page(html(shipped, NOW))

    figures = {one.all("dt")[0].text: one.all("dd")[0].text for one in found.all("div") if one.all("dt")}
    assert figures["GPUs installed"] == f"{shipped.gpus.installed:,}"
    assert figures["orders without a region"] == str(len(shipped.orders)) != "0"
    drawn = {str(one.attributes["aria-label"]).partition(":")[0]: one.all("rect") for one in found.all("svg")}
    nodes = {name: kind.orderable for name, kind in shipped.totals.items()}
    assert set(drawn) == set(nodes)
    for name, count in nodes.items():
        widths = sum(float(str(one.attributes["width"])) for one in drawn[name])
        assert widths == pytest.approx(600 * count / max(nodes.values()), abs=1)
    lab = {kind.instance_type for region in shipped.regions for kind in region.types if region.region == "lab"}
    orderable = {name for name in lab if any("lab (building): " in one.text for one in drawn[name])}
    assert orderable == {
        kind.instance_type
        for region in shipped.regions
        for kind in region.types
        if region.region == "lab" and kind.nodes.orderable
    }


def test_hostile_names_are_text(shipped: FleetReport) -> None:
    campaign = CampaignReport(campaign="hostile", title=HOSTILE, regions={}, stopped=None)

    found = page(html(replace(shipped, campaigns=(campaign,)), NOW))

    assert not found.all("script")
    [cell] = [one.text for one in found.all("td") if "alert" in one.text]
    assert cell == HOSTILE.replace("\x1b", "\\x1b")


def test_the_page_is_written_in_addition_to_the_output_and_overwrites_nothing_else(
    invoke: Invoke, tmp_path: Path
) -> None:
    target = tmp_path / "fleet.html"

    result = invoke("fleet", "--html", str(target))
    again = invoke("fleet", "--html", str(target), "--format", "json")

    assert (result.exit_code, again.exit_code) == (ExitCode.OK, ExitCode.OK), result.output + again.output
    assert result.stdout.endswith(f"\nHTML page in {target}\n")
    assert target.read_text().count("<h2") == 4
    target.write_text("mine")
    assert "was not written by this command" in invoke("fleet", "--html", str(target)).stderr
