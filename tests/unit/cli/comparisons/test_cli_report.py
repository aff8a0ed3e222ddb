"""The report of a change: its content, no external resources, and no active content from values."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from components.specs.region.policy import Enforcement
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.report.page import MARK, html
from jacquard.previews.impacts.impact import Cause
from jacquard.previews.preview import (
    Field,
    ObjectChange,
    Offence,
    Operation,
    Origin,
    Outcome,
    Preview,
    StackPreview,
    Standing,
    Verdict,
)
from jacquard.previews.report import Report, report
from tests.support.changes.impacts import NOW, edited, impact_of
from tests.support.checks.places import resolved
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.docs.strict_html import Element, page

Invoke = Callable[..., Result]
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=x \x1b[31m \u202e&amp; {{ 7*7 }} `a`"
)
SEEN = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=x \\x1b[31m \\u202e&amp; {{ 7*7 }} `a`"
STEPS = "  durations: {drain_minutes: 10, deprovision_minutes: 5, boot_minutes: 15, join_minutes: 5}\n"


def report_of(folder: Path, *edits: tuple[str, ...], then: tuple[str, ...] = (), name: str = "laptop") -> Report:
    bench = edited(folder, name, edits, then)
    return report(load_environment(name, ENVIRONMENTS), bench.load(), impact_of(bench), NOW)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that gets the data of the promotion."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def promoted(data: Path) -> Report:
    steps = [("region.yaml", STEPS)]
    base = edited(data / "base", "laptop", steps, ()).root
    bench = edited(data, "laptop", steps, ("promote acme-train/train gpu-2026.11.1",))
    return report(load_environment("laptop", base), bench.load(), impact_of(bench, base), NOW)


@pytest.fixture(scope="module")
def shown(promoted: Report) -> Element:
    return page(html([promoted]))


def rows(section: Element) -> list[list[str]]:
    return [[cell.text for cell in row.children if isinstance(cell, Element)] for row in section.all("tr")]


def with_preview(found: Report, text: str) -> Report:
    """Return a report with a preview in which every text is ``text``."""
    change = ObjectChange(
        operation=Operation.REPLACE, origin=Origin.DRIFT, kind=text, names=(text,) * 8,
        fields=(Field(path=text, old=text, new=None),), forced_by=(text,),
    )  # fmt: skip
    stack = StackPreview(
        stack=text, outcome=Outcome.FAILED, reason=text, operations={Operation.REPLACE: 8}, changes=(change,),
        held=(text,), accept=text, rendered="0",
    )  # fmt: skip
    offence = Offence(rule=text, subject=text, standing=Standing.NEW, level=Enforcement.MANDATORY, found=text, fix=text)
    preview = Preview(
        environment="laptop", base="a", head="b", verdict=Verdict.BLOCKED, blocked_by=(text,),
        approvals_missing=(text,), impact=found.impact, stacks=(stack,), offences=(offence,), digests={},
    )  # fmt: skip
    return Report(impact=found.impact, hosts=found.hosts, timeline=found.timeline, preview=preview)


def test_the_map_has_a_cell_for_each_host_with_the_letter_of_its_effect(shown: Element) -> None:
    hall = shown.by_id("e0-map").all("div", "hall")[0]
    racks = {
        rack.attributes["data-rack"]: "".join(cell.text or "." for cell in rack.all("b"))
        for rack in hall.all("div", "rack")
    }
    assert racks == {"a01": "RRRRRs.s", "a02": "RRRRRs.s", "a03": "....s..s", "a04": "..s..."}
    assert [cell.attributes["title"] for cell in hall.all("b")][:2] == ["a01-u01", "a01-u02"]
    assert [cell.attributes["title"] for cell in hall.all("b") if "tabindex" in cell.attributes] == ["a01-u01"]


def test_the_legend_explains_each_letter(shown: Element) -> None:
    legend = shown.by_id("e0-map").all("ul", "legend")[0]
    assert [item.text for item in legend.all("li")] == [
        "R replaced 10",
        "node, not affected 10",
        "s spare, not affected 7",
        "free 3",
    ]


def test_tables_have_the_same_content_without_scripts(shown: Element) -> None:
    assert rows(shown.by_id("e0-hosts"))[:3] == [
        ["effect", "hosts", "tenant", "rollout group", "use", "instance type", "cause", "names"],
        [
            "R replaced", "5", "acme", "acme-train/train/a01", "node", "h100-ib-8",
            "acme-train/train, 2 groups: nodes replaced", "a01-u01 to a01-u05 (5)",
        ],
        [
            "R replaced", "5", "acme", "acme-train/train/a02", "node", "h100-ib-8",
            "acme-train/train, 2 groups: nodes replaced", "a02-u01 to a02-u05 (5)",
        ],
    ]  # fmt: skip
    assert rows(shown.by_id("e0-rolls")) == [
        [
            "tenant", "pool", "groups", "nodes", "waves", "strategy", "begins", "ends", "ends at latest", "spares",
            "GPU-hours", "note",
        ],
        [
            "acme", "acme-train/train", "a01, a02", "10", "5", "1 unavailable at a time", "Sun 2026-11-22 00:00",
            "Sun 2026-11-22 02:55", "until jobs end", "1 of 1", "46.6", "",
        ],
    ]  # fmt: skip


def test_waves_and_spares_are_drawn_with_words_to_each_box(shown: Element) -> None:
    pictures = shown.by_id("e0-rolls").all("svg")
    titles = [[title.text for title in picture.all("title")] for picture in pictures]
    assert titles == [
        [
            "waves 1-5, 5 nodes: Sun 2026-11-22 00:00 to Sun 2026-11-22 02:55",
            "until jobs end",
            "acme-train/train: a01, a02",
        ],
        [
            "1 spare (minimum 1): Sun 2026-11-22 00:00 to Mon 2026-11-23 00:00",
            "acme-train/train: a01, a02",
        ],
    ]
    assert all(picture.attributes["aria-label"] for picture in pictures)


def test_edits_and_fields_that_force_a_change_stand_with_their_part(shown: Element, data: Path) -> None:
    part = rows(shown.by_id("e0-p0"))
    assert part[1] == [
        resolved("images.lock.yaml:<groups.acme-train/train/a01>", data / "environments" / "laptop"),
        "groups.acme-train/train/a01",
        "gpu-2026.10.2@ed2b84974a393e93",
        "gpu-2026.11.1@e06e131809d7e64e",
    ]
    assert part[4][:5] == [
        "replaced",
        "cluster.x-k8s.io/MachineDeployment",
        "spec.template.spec.version",
        "2",
        "management/acme-train/acme-train-train-a01",
    ]


def test_a_rollout_of_unknown_duration_is_marked(tmp_path: Path) -> None:
    found = page(html([report_of(tmp_path, then=("promote acme-train/train gpu-2026.11.1",))]))

    rolls = found.by_id("e0-rolls")
    assert [item.text for item in rolls.all("g", "bar")] == ["5 waves, duration unknown 5 waves, duration unknown"]
    assert rows(rolls)[1][6:] == [
        "unknown", "unknown", "unknown", "1 of 1", "unknown", "nodes.durations is not set in region.yaml",
    ]  # fmt: skip


def test_the_report_contains_results_of_engine_and_policies(promoted: Report) -> None:
    found = page(html([with_preview(promoted, "word")]))

    assert found.by_id("e0").all("ul", "verdict")[0].text == (
        "blocked word approval of word is missing disrupts 10 nodes, 80 GPUs, 1 tenant; at most 2 unavailable at a "
        "time; longest 2 h 55 min; needs approval of acme replaced: 10 nodes (80 GPUs) of acme-train/train"
    )
    assert rows(found.by_id("e0-policies"))[1] == ["new", "mandatory", "word", "word", "word", "word", "-"]
    objects = found.by_id("e0-diff")
    assert objects.all("h4")[0].text == "replace word 8 objects drift: changed in the cluster"
    assert rows(objects)[1] == ["word forces replacement", "word", "none"]


def test_no_effect_is_stated(tmp_path: Path) -> None:
    found = page(html([report_of(tmp_path)]))

    assert found.all("ul", "verdict")[0].text == "no running workload is affected"
    assert found.by_id("e0-tenants").text == "Tenants No tenant is affected."


def test_hostile_texts_are_text(promoted: Report) -> None:
    row = promoted.impact.rows[0]
    cause = Cause(file=HOSTILE, line=1, path=HOSTILE, old=HOSTILE * 100, new=None)
    worse = row.model_copy(update={"causes": (cause,), "part": f"{HOSTILE}/p/a01", "tenant": HOSTILE})
    impact = promoted.impact.model_copy(
        update={"environment": HOSTILE, "base": HOSTILE, "rows": (worse, promoted.impact.rows[1])}
    )
    hosts = tuple(
        type(one)(**{name: getattr(one, name) for name in one.__slots__} | {"tenant": HOSTILE, "group": HOSTILE})
        for one in promoted.hosts
    )
    found = Report(impact=impact, hosts=hosts, timeline=promoted.timeline, preview=None)

    text = html([with_preview(found, HOSTILE)])

    top = page(text)
    assert Counter(one.name for one in top.walk())["script"] == 1
    assert not top.all("img")
    assert top.all("h1")[0].text == SEEN
    assert not any(name.startswith("on") for one in top.walk() for name in one.attributes)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_page_needs_no_external_resource_and_its_policy_permits_none(promoted: Report) -> None:
    text = html([promoted])
    top = page(text)

    assert not re.search(r"(?i)https?:|//[a-z]|@import|url\((?!#(?:hatch|open)\))|\ssrc=|<link|javascript:|data:", text)
    [policy] = [one.attributes["content"] for one in top.all("meta") if "http-equiv" in one.attributes]
    hashes = [
        base64.b64encode(hashlib.sha256(str(top.all(name)[0].children[0]).encode()).digest()).decode()
        for name in ("style", "script")
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert not any("style" in one.attributes for one in top.walk())


def test_several_environments_have_separate_file_names(promoted: Report) -> None:
    top = page(html([promoted, promoted]))  # Duplicate identifiers would make the parser fail.
    assert [one.attributes["id"] for one in top.all("main")] == ["e0", "e1"]


def test_equal_reports_have_equal_bytes(promoted: Report) -> None:
    assert html([promoted]) == html([promoted])


def test_the_report_of_a_large_region_is_small(tmp_path: Path) -> None:
    found = report_of(tmp_path, name="us-east-04a")
    text = html([found])

    assert len(found.hosts) == 6000
    assert len(text.encode()) / len(found.hosts) < 120


@pytest.fixture
def changed(data_folder: Path) -> None:
    """A repository with an uncommitted label in its work tree."""
    for command in (
        ("init", "-q"),
        ("add", "environments"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "d"),
    ):
        subprocess.run(["git", "-C", str(data_folder.parent), *command], check=True)
    path = data_folder / "laptop" / "tenants" / "acme.yaml"
    path.write_text(path.read_text().replace("workload: inference", "workload: serving"))


@pytest.mark.usefixtures("changed")
def test_the_command_writes_the_report_in_addition_to_its_output(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    result = invoke("impact", "laptop", "--format", "json", "--html", str(file))
    again = invoke("impact", "laptop", "--html", str(file))

    assert json.loads(result.stdout)[0]["environment"] == "laptop"
    assert again.exit_code == ExitCode.OK
    assert MARK in file.read_text()[:100]
    assert page(file.read_text()).all("h1")[0].text == "laptop"


@pytest.mark.usefixtures("changed")
def test_the_command_writes_over_nothing_else(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")

    refused = invoke("impact", "laptop", "--html", str(file))

    assert refused.exit_code == ExitCode.BAD_DATA
    assert file.read_text() == "mine"
