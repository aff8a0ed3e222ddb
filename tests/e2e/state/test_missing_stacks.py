"""A preview of a stack that does not exist creates neither the stack nor a settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.engine.driver import Engine
from jacquard.engine.missing_stacks import previewing
from jacquard.machine import paths
from tests.support.engine.small_project import small_project

pytestmark = pytest.mark.e2e


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real engine in a repository of regions."""
    return small_project(tmp_path, monkeypatch)


def test_a_stack_that_is_only_previewed_is_not_created(engine: Engine) -> None:
    ready = engine.look("edge-1")
    with previewing(engine, ready) as able:
        run = able.run("preview", "edge-1")

    assert (ready.made, run.code) == (False, 0), run.tail
    assert "+ 2 to create" in run.tail  # The stack, and the record of its plug-ins
    assert engine.stacks() == frozenset()
    assert not list((paths.project() / "environments").iterdir())

    engine.select("edge-1")
    assert engine.look("edge-1").made
