"""Relevant content of a log of ``jacquard check --format sarif``."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import Result


def sarif(result: Result) -> list[dict[str, Any]]:
    """Return the results of the log."""
    found: list[dict[str, Any]] = json.loads(result.stdout)["runs"][0]["results"]
    return found


def place(found: dict[str, Any]) -> tuple[str, int]:
    """Return the file and the line of one finding."""
    [location] = found["locations"]
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]
