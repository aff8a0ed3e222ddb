"""Programs that tests run and that the set-up of a clone builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.lab.toolchain import binaries
from jacquard.lab.toolchain.repository_families import LINTERS, NIGHTLY
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

_COMMANDS = {
    binary.name: command
    for command, families in (("make lint", LINTERS), ("make test-nightly", NIGHTLY))
    for family in families
    for binary in family.binaries
}


def built(name: str) -> Path:
    """Return the path of a program; the test is skipped if it is not built."""
    try:
        return binaries.path(name)
    except ToolchainError:
        pytest.skip(f"NOT TESTED: {name} is not built; {_COMMANDS.get(name, paths.set_up())} builds it")
