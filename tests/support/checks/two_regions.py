"""Reports about two regions, the second of which is a copy of the first."""

from __future__ import annotations

from typing import Any

from components.rules.checks import check_regions
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from tests.support.checks.places import resolved

REAL = ("stage: rehearsal", "stage: development")
"""Edit that switches the region to real hardware."""


def reports(environments: list[Environment]) -> dict[str, str]:
    return {name: str(SpecError(name, problems)) for name, problems in check_regions(environments).items()}


def expected(laptop: Any, text: str) -> str:
    """Return a text for the second region, or for the first if it names the second."""
    return resolved(text, laptop.folder if "../palmtop" in text else laptop.root / "palmtop")
