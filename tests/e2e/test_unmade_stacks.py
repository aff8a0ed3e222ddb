"""The engine previews a stack that nobody made, and there is none afterwards, nor a file of its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.engine.driver import Engine
from jacquard.engine.missing_stacks import previewing
from jacquard.machine import paths

pytestmark = pytest.mark.e2e

PROJECT = """name: looms
stackConfigDir: environments
runtime: {name: python, options: {virtualenv: .venv}}
"""
PROGRAM = """import pulumi
from stacks.provider_record import keep
keep(pulumi.get_stack())
"""
"""Begins as ours does, with a look at the stack's own state."""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real engine in a repository of regions."""
    (folder := tmp_path / "regions" / "environments").mkdir(parents=True)
    (folder.parent / "Pulumi.yaml").write_text(PROJECT)
    (folder.parent / "__main__.py").write_text(PROGRAM)
    (folder.parent / ".venv").symlink_to(paths.VENV)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "home"))
    return Engine("edge-1", None, {})


def test_a_stack_that_is_only_previewed_is_never_made(engine: Engine) -> None:
    ready = engine.look("edge-1")
    with previewing(engine, ready) as able:
        run = able.run("preview", "edge-1")

    assert (ready.made, run.code) == (False, 0), run.tail
    assert "+ 2 to create" in run.tail  # the stack, and the record of its plug-ins
    assert engine.stacks() == frozenset()
    assert not list((paths.project() / "environments").iterdir())

    engine.select("edge-1")
    assert engine.look("edge-1").made
