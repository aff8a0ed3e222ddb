"""The appearance of the report: contrast of colours, and a real browser that opens it, hovers and types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.cli.views.report.page import html
from jacquard.previews.report import report
from tests.support.changes.impacts import NOW, edited, impact_of
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.machine.browser import Page, needs_browser

STEPS = "  durations: {drain_minutes: 10, deprovision_minutes: 5, boot_minutes: 15, join_minutes: 5}\n"
COLOURS = re.compile(r"--([a-z-]+):(#[0-9a-f]{3,6})")
LINES = (
    "[...document.querySelectorAll('.hosts {}')].map((cell) => {{const text = document.createRange();"
    "text.selectNodeContents(cell.lastChild); return text.getClientRects().length}})"
)
"""Lines of the last text of each cell, in JavaScript."""
SIGNS = (
    "replaced",
    "deleted",
    "re-flashed",
    "rebooted",
    "restarted",
    "refused",
    "unknown",
    "goes",
    "comes",
    "in-place",
)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a promotion."""
    folder = tmp_path_factory.mktemp("data")
    bench = edited(folder, "laptop", [("region.yaml", STEPS)], ("promote acme-train/train gpu-2026.11.1",))
    path = folder / "report.html"
    found = report(load_environment("laptop", ENVIRONMENTS), bench.load(), impact_of(bench), NOW)
    path.write_text(html([found]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a region with small drawings of racks."""
    folder = tmp_path_factory.mktemp("data")
    bench = edited(folder, "eu-south-03a", [], ())
    path = folder / "report.html"
    found = report(load_environment("eu-south-03a", ENVIRONMENTS), bench.load(), impact_of(bench), NOW)
    path.write_text(html([found]), encoding="utf-8")
    return path


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Page]:
    """A browser without a page."""
    with Page(tmp_path / "browser") as page:
        yield page


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_all_text_contrasts_with_its_background(written: Path, theme: int) -> None:
    style = written.read_text(encoding="utf-8")
    colours = dict(COLOURS.findall(style.split("@media (prefers-color-scheme:dark)")[theme].split("}", maxsplit=1)[0]))

    pairs = [(sign, f"on-{sign}") for sign in SIGNS] + [("unknown-stripe", "on-unknown"), ("spare", "on-spare")]
    pairs += [
        (ground, text) for ground in ("ground", "raised") for text in ("text", "soft", "link", "bad", "good", "warn")
    ]
    pairs += [("old", "text"), ("new", "text"), ("link", "ground"), ("window", "text")]
    low = {pair: found for pair in pairs if (found := contrast(*(colours[name] for name in pair))) < 4.5}
    assert low == {}


def test_effects_at_a_later_time_have_the_colour_of_the_effect(written: Path) -> None:
    style = written.read_text(encoding="utf-8")
    [later] = re.findall(r"\n\.c\.later\{(.*)\}", style)

    assert "border:2px dashed var(--fill)" in later
    assert all(f"\n.{sign}{{--fill:var(--{sign})" in style for sign in SIGNS)


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_opens_without_errors_and_requests_nothing_else(browser: Page, written: Path, theme: str) -> None:
    browser.theme(theme)
    browser.open(written)

    assert browser.ask("document.documentElement.dataset.ready") == ""
    assert browser.errors() == []
    assert browser.requested() == [written.as_uri()]
    ground = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}[theme]
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert len(browser.picture()) > 10_000  # A picture with content: an empty page compresses to less.


@needs_browser
def test_hovering_over_a_host_shows_its_effect(browser: Page, written: Path) -> None:
    browser.open(written)

    browser.point('[title="a02-u03"]')

    assert browser.ask("document.querySelector('.detail').innerText").split("\n") == [
        "a02-u03", "place", "hall a, rack a02", "effect", "R replaced", "equal hosts", "5", "tenant", "acme",
        "rollout group", "acme-train/train/a02", "use", "node", "instance type", "h100-ib-8", "cause",
        "acme-train/train, 2 groups: nodes replaced; acme-train/train: nodes in place",
    ]  # fmt: skip


@needs_browser
def test_arrow_keys_select_hosts_and_enter_pins_one(browser: Page, written: Path) -> None:
    browser.open(written)
    browser.ask("document.querySelector('.hall [tabindex=\"0\"]').focus()")

    for key in ("ArrowDown", "ArrowRight", "Enter", "ArrowDown"):
        browser.press(key)

    assert browser.ask("document.activeElement.title") == "a02-u03"
    assert browser.ask("document.querySelector('.detail h3').textContent") == "a02-u02"
    assert browser.ask("document.querySelectorAll('.hall [tabindex=\"0\"]').length") == 1


@needs_browser
def test_a_selected_tenant_is_highlighted_also_without_scripts(browser: Page, written: Path) -> None:
    browser.script(on=False)
    browser.open(written)
    assert browser.ask("document.documentElement.dataset.ready") is None

    browser.ask("document.getElementById('e0t1').checked = true")

    opacity = "getComputedStyle(document.querySelector('[title=\"{}\"]')).opacity"
    assert browser.ask(opacity.format("a01-u01")) == "0.17"
    assert browser.ask(opacity.format("a01-u07")) == "1"


@needs_browser
def test_a_link_to_a_part_opens_it_and_print_shows_all(browser: Page, written: Path) -> None:
    browser.open(written)
    browser.ask("document.querySelectorAll('details').forEach((fold) => { fold.open = false; })")

    browser.ask("location.hash = '#e0-p0'; new Promise((done) => setTimeout(done, 50))")
    assert browser.ask("document.getElementById('e0-p0').open")

    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert browser.ask("document.querySelectorAll('details:not([open])').length") == 0


@needs_browser
@pytest.mark.parametrize("name", ["written", "large"])
def test_a_phone_scrolls_down_only(tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    with Page(tmp_path / "browser", width=400, height=400) as phone:  # Halls are still below the window.
        phone.open(request.getfixturevalue(name))

        assert phone.ask("document.documentElement.scrollWidth") == 400


@needs_browser
def test_tables_on_a_phone_keep_names_whole_and_rows_short(tmp_path: Path, written: Path) -> None:
    with Page(tmp_path / "browser", width=400, height=800) as phone:
        phone.open(written)

        assert max(phone.ask(LINES.format("td"))) <= 3
        assert set(phone.ask(LINES.format("td:nth-child(4)"))) == {1}


@needs_browser
def test_axes_on_a_phone_are_readable(tmp_path: Path, written: Path) -> None:
    drawn = "document.querySelector('.wide svg').getScreenCTM().a * 11"
    with Page(tmp_path / "browser", width=400, height=800) as phone:
        phone.open(written)

        assert phone.ask(drawn) >= 9.5  # Pixels of the smallest text


@needs_browser
def test_details_cover_the_map_of_a_phone_only_with_a_host(tmp_path: Path, written: Path) -> None:
    place = "getComputedStyle(document.querySelector('.detail')).position"
    with Page(tmp_path / "browser", width=400, height=800) as phone:
        phone.open(written)
        assert phone.ask(place) == "static"

        phone.point('[title="a02-u03"]')

        assert phone.ask(place) == "sticky"


@needs_browser
def test_signs_without_a_letter_stand_on_the_line_of_their_text(browser: Page, written: Path) -> None:
    browser.open(written)

    heights = "[...document.querySelectorAll('.legend .c')].map((sign) => sign.getBoundingClientRect().y)"
    letters = "[...document.querySelectorAll('.legend .c')].map((sign) => sign.textContent)"
    assert "" in browser.ask(letters)
    assert len(set(browser.ask(heights))) == 1


@needs_browser
def test_an_effect_in_the_table_of_hosts_is_one_line(browser: Page, written: Path) -> None:
    browser.open(written)

    texts = "[...document.querySelectorAll('.hosts td:first-child')].map((cell) => cell.innerText.trim())"
    assert "i changed in place" in browser.ask(texts)
    assert set(browser.ask(LINES.format("td:first-child"))) == {1}


@needs_browser
def test_the_outline_of_a_host_at_the_edge_of_its_hall_is_not_cut(browser: Page, written: Path) -> None:
    browser.open(written)
    browser.ask("document.querySelector('[title=\"a01-u01\"]').click()")

    room = "const host = document.querySelector('.held'), hall = host.closest('.hall');"
    edges = "host.getBoundingClientRect().{0} - hall.getBoundingClientRect().{0}"
    width = "parseFloat(getComputedStyle(host).outlineWidth)"
    for side in ("x", "y"):
        assert browser.ask(f"{{{room} {edges.format(side)} >= {width}}}")
