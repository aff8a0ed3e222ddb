"""Reports about two regions, of which the second is a copy of the first."""

from __future__ import annotations

from typing import Any

from places import resolved

from components.rules.checks import check_regions
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError

REAL = ("stage: rehearsal", "stage: development")
"""Edit after which hardware is real."""


def reports(environments: list[Environment]) -> dict[str, str]:
    return {name: str(SpecError(name, problems)) for name, problems in check_regions(environments).items()}


def expected(laptop: Any, text: str) -> str:
    """Return a text of the second region, or of the first if it names the second."""
    return resolved(text, laptop.folder if "../palmtop" in text else laptop.root / "palmtop")
