"""The example environment, loaded, for tests of what is derived from it."""

from __future__ import annotations

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


@pytest.fixture(scope="session")
def region() -> Environment:
    """An environment that a test may vary by ``model_copy``."""
    return load_environment("laptop", paths.ROOT / "environments")
