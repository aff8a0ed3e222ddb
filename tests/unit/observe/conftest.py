"""Reference environments, and what the API servers of a settled one answer."""

from __future__ import annotations

import pytest
from settled_region import settled_region

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.observe.observation import Observation


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def south() -> Environment:
    """The reference region that has both second backends."""
    return load_environment("eu-south-03a", paths.ROOT / "environments")


@pytest.fixture
def seen(laptop: Environment) -> Observation:
    """What the API servers of a settled laptop answer; a test may spoil it."""
    return settled_region(laptop)
