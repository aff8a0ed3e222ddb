"""Reference environments, and the API servers of a reconciled region."""

from __future__ import annotations

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.observe.observation import Observation
from tests.support.objects.settled_region import settled_region


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def south() -> Environment:
    """The reference region with both alternative backends."""
    return load_environment("eu-south-03a", paths.ROOT / "environments")


@pytest.fixture
def seen(laptop: Environment) -> Observation:
    """Responses of a reconciled laptop's API servers; a test may change them."""
    return settled_region(laptop)
