"""The example environment, loaded, and a copy of its files for tests to edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS, copy_data
from tests.support.data.workbench import Workbench


@pytest.fixture
def laptop(tmp_path: Path) -> Workbench:
    return Workbench(copy_data(tmp_path / "environments", "laptop"))


@pytest.fixture(scope="session")
def region() -> Environment:
    """Return an environment that a test may vary by ``model_copy``."""
    return load_environment("laptop", ENVIRONMENTS)
