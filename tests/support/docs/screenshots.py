"""Writes the screenshots of the documentation with a real browser: ``make screenshots``.

They show shipped environments at a fixed time, so that only changes of the pages change them. Fonts differ between
machines, so tests do not compare the files.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from components.reports.fleet.fleet import fleet_report
from components.reports.network.network import network
from components.reports.offerings import offerings
from components.specs.reading.fleet import load_fleet
from components.specs.reading.loader import load_environment
from components.specs.struct import Struct
from jacquard.cli.views.region import capacity_map, network_map
from jacquard.cli.views.report import fleet, page
from jacquard.cli.views.report import offerings as offering_page
from jacquard.previews.report import report
from tests.support.changes.impacts import NOW, edited, impact_of
from tests.support.data.environment_data import ENVIRONMENTS, REFERENCES, reference
from tests.support.docs.documents import DOCS
from tests.support.machine.browser import CHROMIUM, Page

FOLDER = DOCS / "images"
MAX_BYTES = 150_000
_DURATIONS = "  durations: {drain_minutes: 10, deprovision_minutes: 5, boot_minutes: 15, join_minutes: 5}\n"
_END = "document.querySelector({}).getBoundingClientRect().{} + scrollY"
_SVG = "<!doctype html><body style='margin:8px'>{}"


class Screenshot(Struct, kw_only=False):
    """The upper part of a page."""

    content: Callable[[], str]
    width: int
    """Width of the window in pixels."""
    end: str
    """Selector of the element below the picture; empty for the end of a map."""
    chosen: str = ""
    """Selector of an element under the mouse."""


def _promotion() -> str:
    with tempfile.TemporaryDirectory() as folder:
        promotion = ("promote acme-train/train gpu-2026.11.1",)
        base = edited(Path(folder, "base"), "laptop", [("region.yaml", _DURATIONS)], ())
        head = edited(Path(folder, "head"), "laptop", [("region.yaml", _DURATIONS)], promotion)
        change = impact_of(head, base.root)
        return page.html([report(load_environment("laptop", base.root), head.load(), change, NOW)])


def _fleet() -> str:
    regions = [reference(name) for name in REFERENCES]
    return fleet.html(fleet_report(load_fleet(ENVIRONMENTS), regions, NOW.date()), NOW)


SCREENSHOTS = {
    "impact-report": Screenshot(_promotion, 1120, "#e0-rolls h3", '[title="a02-u03"]'),
    "capacity-map": Screenshot(lambda: _SVG.format(capacity_map.capacity_map(reference("eu-south-03a"))), 800, ""),
    "network-map": Screenshot(lambda: _SVG.format(network_map.network_map(network(reference("laptop")))), 900, ""),
    "fleet-page": Screenshot(_fleet, 1000, "#s2"),
    "offerings-page": Screenshot(lambda: offering_page.html(offerings(reference("laptop"))), 1000, "#s3"),
}
"""Screenshots by name of the file."""


def write(names: Sequence[str], folder: Path) -> None:
    """Write the screenshots ``names`` as PNG files into ``folder``."""
    folder.mkdir(exist_ok=True)
    for name in names:
        shot = SCREENSHOTS[name]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            content = Path(home, "page.html")
            content.write_text(shot.content(), encoding="utf-8")
            with Page(Path(home, "browser"), width=shot.width) as shown:
                shown.theme("light")
                shown.open(content)
                if shot.chosen:
                    shown.point(shot.chosen)
                height = shown.ask(_END.format(f"'{shot.end}'", "top") if shot.end else _END.format("'svg'", "bottom"))
                (folder / f"{name}.png").write_bytes(shown.picture(height=int(height)))


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit("error: no Chromium: apt-get install chromium")
    write(sys.argv[1:] or list(SCREENSHOTS), FOLDER)
