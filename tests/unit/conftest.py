"""A copy of the example environment that a test may spoil."""

from __future__ import annotations

from pathlib import Path

import pytest
from environment_data import copy_data
from workbench import Workbench


@pytest.fixture
def laptop(tmp_path: Path) -> Workbench:
    return Workbench(copy_data(tmp_path / "environments", "laptop"))
