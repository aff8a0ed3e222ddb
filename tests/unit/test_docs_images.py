"""Pictures of the documentation: every page uses existing files, and every file has a page and a generator."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tests.support.docs.documents import DOCS, prose
from tests.support.docs.screenshots import FOLDER, MAX_BYTES, SCREENSHOTS, write
from tests.support.machine.browser import needs_browser

IMAGES = [
    (page, *match)
    for page in sorted(DOCS.rglob("*.md"))
    for match in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", prose(page))
]
"""Page, alternative text and link of every picture."""


def size(picture: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG file."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def test_every_picture_is_on_one_page_and_written_by_the_command() -> None:
    named = sorted((page.parent / link).resolve() for page, _, link in IMAGES)

    assert named == sorted(FOLDER.iterdir())
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(SCREENSHOTS)


@pytest.mark.parametrize(("page", "text"), [one[:2] for one in IMAGES], ids=[Path(one[2]).stem for one in IMAGES])
def test_pictures_have_a_text_that_replaces_them(page: Path, text: str) -> None:
    assert len(text.split()) >= 8, page
    assert not re.match("(?i)(image|picture|screenshot) of", text)


@pytest.mark.parametrize("name", SCREENSHOTS)
def test_pictures_are_small_and_as_wide_as_their_window(name: str) -> None:
    picture = (FOLDER / f"{name}.png").read_bytes()

    assert size(picture)[0] == SCREENSHOTS[name].width
    assert len(picture) <= MAX_BYTES


@needs_browser
def test_the_command_writes_the_part_of_the_page(tmp_path: Path) -> None:
    write(["fleet-page", "network-map"], tmp_path)

    for name in ("fleet-page", "network-map"):
        old, new = (size((folder / f"{name}.png").read_bytes()) for folder in (FOLDER, tmp_path))
        assert new[0] == old[0]
        assert abs(new[1] - old[1]) < old[1] / 4  # Fonts differ between machines.
    assert {file.stem for file in tmp_path.iterdir()} == {"fleet-page", "network-map"}
