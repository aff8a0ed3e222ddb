"""Two regions, for rules between regions."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment


@pytest.fixture
def both(laptop: Any) -> Any:
    """Return a function that edits the second of two equal regions, and returns both."""
    other = laptop.root / "palmtop"

    def load(*edits: tuple[str, str], first: tuple[tuple[str, str], ...] = ()) -> list[Environment]:
        texts = {path: path.read_text(encoding="utf-8") for path in laptop.folder.rglob("*") if path.is_file()}
        for path, text in texts.items():
            copy = other / path.relative_to(laptop.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text.replace("region: laptop", "region: palmtop"), encoding="utf-8")
        for folder, changes in ((laptop.folder, first), (other, edits)):
            region = folder / "region.yaml"
            text = region.read_text(encoding="utf-8")
            for old, new in changes:
                assert old in text, old
                text = text.replace(old, new)
            region.write_text(text, encoding="utf-8")
        return [load_environment(name, laptop.root) for name in ("palmtop", "laptop")]

    return load
