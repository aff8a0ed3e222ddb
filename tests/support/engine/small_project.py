"""A repository of regions whose program only records plug-ins, for tests of the real engine without clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.engine.driver import Engine
from jacquard.machine import paths

PROJECT = """name: looms
stackConfigDir: environments
runtime: {name: python, options: {virtualenv: .venv}}
"""
PROGRAM = """import pulumi
from stacks.provider_record import keep
keep(pulumi.get_stack())
"""
"""Starts like the real program, by reading the stack's own state."""


def small_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Return the real engine in the repository, for environment ``edge-1``."""
    (folder := tmp_path / "regions" / "environments").mkdir(parents=True)
    (folder.parent / "Pulumi.yaml").write_text(PROJECT)
    (folder.parent / "__main__.py").write_text(PROGRAM)
    (folder.parent / ".venv").symlink_to(paths.VENV)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "home"))
    return Engine("edge-1", None, {})
