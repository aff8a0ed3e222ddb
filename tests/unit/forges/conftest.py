"""Shared parts of the forge tests: a forge server, and runs that write to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.forges.fake_forge import FakeForge, fake_forge
from tests.support.forges.forge_runs import Runs


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    with fake_forge() as forge:
        yield forge


@pytest.fixture(params=["github", "gitlab"])
def runs(forge: FakeForge, request: pytest.FixtureRequest) -> Runs:
    return Runs(forge, getattr(forge, request.param))


@pytest.fixture
def github(forge: FakeForge) -> Runs:
    return Runs(forge, forge.github)
