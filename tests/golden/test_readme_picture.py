"""The README shows the picture that is drawn from the region's data."""

from __future__ import annotations

import os

from components.specs.reading.loader import load_environment
from jacquard.cli.views.region.region_map import region_map
from jacquard.machine import paths

README = paths.ROOT / "README.md"
BEGIN, END = "<!-- picture: begin -->\n", "<!-- picture: end -->"
LONGEST_README_LINES = 120


def test_readme_shows_the_picture_drawn_from_the_data() -> None:
    environment = load_environment("laptop", paths.ROOT / "environments")
    drawn = f"```\n{region_map(environment)}```\n"
    before, rest = README.read_text().split(BEGIN)
    shown, after = rest.split(END)
    if os.environ.get("JACQUARD_UPDATE_GOLDEN"):
        README.write_text(before + BEGIN + drawn + END + after)
        return

    assert shown == drawn, "the data draws another picture; run with JACQUARD_UPDATE_GOLDEN=1 to paste it"


def test_every_host_has_one_cell() -> None:
    environment = load_environment("laptop", paths.ROOT / "environments")
    racks = {host.rack for host in environment.hosts}

    rows = [line.split()[1:-1] for line in region_map(environment).splitlines() if line[2:5] in racks]
    assert sum(len(row) for row in rows) == len(environment.hosts)


def test_readme_is_short_enough_to_be_read() -> None:
    assert len(README.read_text().splitlines()) <= LONGEST_README_LINES
