"""Malformed or malicious files: each is rejected with its position and remedy, at a bounded cost."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Any

import pytest

from tests.support.checks import measured_checks
from tests.support.data.environment_data import copy_data
from tests.support.data.hostile_files import FILES_OF_MISTAKES, HOSTILE_FILES

MAX_TIMES_SOUND = 60
"""Maximum processor time for the environment with the file, relative to the valid one in the same run.

The worst case takes 25 times as long. Both increase alike under other load of the machine.
"""
SOUND = tuple(f"sound {number}" for number in range(6))
"""Number of valid copies: half of them are checked before the others, half after."""
MAX_BYTES = 200_000_000


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Cost and output of each case; one small process reads all files, since a fork of pytest is large."""
    root = tmp_path_factory.mktemp("hostile")
    roots = {}
    hostile = HOSTILE_FILES | FILES_OF_MISTAKES
    for name in (*SOUND[::2], *hostile, *SOUND[1::2]):
        folder = roots[name] = copy_data(root / str(len(roots)) / "environments", "laptop")
        if name in SOUND:
            continue
        file, content, _ = hostile[name]
        path = folder / "laptop" / file
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    command = [sys.executable, measured_checks.__file__, *map(str, roots.values())]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return dict(zip(roots, map(json.loads, lines), strict=True))


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_is_refused_with_its_place_and_the_form_to_write(
    results: dict[str, dict[str, Any]], name: str
) -> None:
    lines = results[name]["report"].splitlines()

    assert HOSTILE_FILES[name][2] in lines
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("name", FILES_OF_MISTAKES)
def test_many_mistakes_alike_are_counted_and_not_spelt_out(results: dict[str, dict[str, Any]], name: str) -> None:
    lines = results[name]["report"].splitlines()

    assert f"  {FILES_OF_MISTAKES[name][2]}" in lines
    assert len(lines) < 40


@pytest.mark.parametrize("name", [*HOSTILE_FILES, *FILES_OF_MISTAKES])
def test_a_hostile_file_costs_little(results: dict[str, dict[str, Any]], name: str) -> None:
    result = results[name]

    floor = statistics.median(results[sound]["seconds"] for sound in SOUND)
    assert result["status"] == 0
    assert result["seconds"] < MAX_TIMES_SOUND * floor
    assert result["peak_bytes"] < MAX_BYTES
