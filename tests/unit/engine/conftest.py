"""A fake engine, and a separate home for its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engine.fake_pulumi import FakePulumi, install


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("JACQUARD_HOME", str(folder))
    return folder


@pytest.fixture
def pulumi(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    return install(tmp_path / "bin", home, monkeypatch)
