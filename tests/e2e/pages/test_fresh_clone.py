"""Steps of a new contributor: clone, ``make up`` twice, then a second clone in parallel. Nightly, since it is slow."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from jacquard.machine import paths
from tests.support.local_regions.local_region import processes_of

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

TOOLS = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "GOPROXY",
    "GOFLAGS",
    "GOSUMDB",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
)


def clone(folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(paths.ROOT), str(folder)], check=True)
    return folder


def make(folder: Path, target: str, cache: Path) -> tuple[int, str]:
    variables = {name: os.environ[name] for name in TOOLS if name in os.environ} | {"JACQUARD_CACHE": str(cache)}
    done = subprocess.run(["make", target], cwd=folder, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_make_up_on_fresh_clones_with_an_empty_cache(tmp_path: Path) -> None:
    cache, first, second = tmp_path / "cache", clone(tmp_path / "first"), clone(tmp_path / "second")
    try:
        code, text = make(first, "up", cache)
        assert code == 0, text
        status = subprocess.run(["git", "status", "--porcelain"], cwd=first, capture_output=True, text=True, check=True)
        assert status.stdout == ""

        code, text = make(first, "up", cache)
        assert code == 0, text
        assert "no changes" in text
        assert make(first, "down", cache)[0] == 0

        code, text = make(second, "up", cache)
        assert code == 0, text
    finally:
        for folder in (first, second):
            make(folder, "down", cache)
    assert processes_of(cache) == []
