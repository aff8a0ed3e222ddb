"""A region with simulated Stacks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine.stack_region import StackRegion


@pytest.fixture
def region(tmp_path: Path, objects: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[StackRegion]:
    """Return a region whose processes end with the test."""
    found = StackRegion(tmp_path, objects, monkeypatch)
    yield found
    found.kill()
