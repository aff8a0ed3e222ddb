"""The page that ``jacquard show ENV offerings --html`` writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.reports.offerings import offerings
from components.reports.offers import Offerings
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.report.offerings import html
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.docs.strict_html import Element, page

Invoke = Callable[..., Any]
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"' \x1b[31m \u202e&amp; {{ 7*7 }}"
SEEN = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"' \\x1b[31m \\u202e&amp; {{ 7*7 }}"


@cache
def offered(name: str) -> Offerings:
    return offerings(reference(name))


def tables(found: Element) -> dict[str, list[list[str]]]:
    """Return the cells of each section that has a table."""
    sections = {one.all("h2")[0].text: one.all("tr") for one in found.all("section")}
    return {
        title: [[cell.text for cell in row.walk() if cell.name in {"th", "td"}] for row in rows]
        for title, rows in sections.items()
        if rows
    }


@pytest.mark.parametrize("name", REFERENCES)
def test_it_is_well_formed_loads_nothing_and_is_read_without_eyes(name: str) -> None:
    found = page(html(offered(name)))

    assert [one.attributes["lang"] for one in found.all("html")] == ["en"]
    assert next(one.text for one in found.all("title")) == f"Offerings of {name}"
    assert not {"script", "img", "link", "iframe"} & {one.name for one in found.walk()}
    assert not [one for one in found.walk() if {"src", "style", "onclick"} & set(one.attributes)]
    [policy] = [one.attributes["content"] for one in found.all("meta") if "http-equiv" in one.attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    for table in found.all("table"):
        assert found.by_id(str(table.attributes["aria-labelledby"])).name == "h2"
        assert {one.attributes.get("scope") for one in table.all("th")} == {"col", "row"}
    assert all(one.attributes.get("aria-label") for one in found.all("svg"))


def test_it_has_all_that_the_tables_have_without_leaving_places_out() -> None:
    found = tables(page(html(offered("us-east-04a"))))

    assert list(found) == [
        "Virtual machines",
        "Images of virtual machines",
        "Nodes",
        "Multi-node NVLink",
        "Storage classes",
        "Checkpoints",
        "Buckets",
        "RDMA",
    ]
    [scratch] = [row for row in found["Storage classes"] if row[0] == "scratch"]
    assert scratch[-1].count(",") == 12, "a terminal names three of thirteen"
    assert [len(set(map(len, rows))) for rows in found.values()] == [1] * len(found)


def test_room_is_drawn_as_long_as_it_is() -> None:
    found = offered("us-east-04a")
    bars = page(html(found)).all("svg")
    drawn = {str(one.attributes["aria-label"]).split(":")[0]: one.all("rect") for one in bars}
    free = {kind.instance_type: kind.free for kind in found.nodes if kind.free}
    longest = max(free.values())

    assert set(free) <= set(drawn)
    for name, count in free.items():
        widths = sum(float(str(one.attributes["width"])) for one in drawn[name])
        assert widths == pytest.approx(600 * count / longest, abs=1)


def test_hostile_names_are_text() -> None:
    [first, *rest] = offered("laptop").nodes
    hostile = first.model_copy(update={"instance_type": HOSTILE, "free": 1, "failure_domains": {HOSTILE: 1}})
    found = page(html(offered("laptop").model_copy(update={"nodes": (hostile, *rest)})))

    assert tables(found)["Nodes"][1][0] == " ".join(SEEN.split())
    assert not found.all("script")
    assert [one.text for one in found.all("dt") if "alert" in one.text] == [" ".join(SEEN.split())]


def test_a_region_without_vms_is_reported() -> None:
    found = page(html(offered("lab")))

    assert "no cluster offers VMs." in found.text
    assert list(tables(found)) == ["Nodes", "Shared GPUs", "Storage classes"]


def test_the_page_is_written_in_addition_to_the_output_and_overwrites_nothing_else(
    invoke: Invoke, tmp_path: Path
) -> None:
    target = tmp_path / "offerings.html"
    result = invoke("show", "laptop", "offerings", "--html", str(target))
    written = target.read_text(encoding="utf-8")

    assert result.stdout.endswith(f"\nHTML page in {target}\n")
    assert written == html(offered("laptop"))
    assert invoke("show", "laptop", "offerings", "--html", str(target), "--format", "json").exit_code == ExitCode.OK
    target.write_text("mine", encoding="utf-8")
    assert "was not written by this command" in invoke("show", "laptop", "offerings", "--html", str(target)).stderr


@pytest.mark.parametrize("arguments", [("capacity",), ("offerings", "--example", "cpu-4")])
def test_the_option_applies_to_offerings_only(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    result = invoke("show", "laptop", *arguments, "--html", "page.html")

    assert result.stderr == (
        "error: --html requires offerings without --example; use: jacquard show laptop offerings --html page.html\n"
    )
