"""Every package at the top of the tree has its place: in the installation, the type checker and the layers."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from toolchain import paths

PACKAGES = {file.parent.name for file in paths.ROOT.glob("*/__init__.py")}
SETTINGS: dict[str, Any] = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
INSTALLED = {pattern.removesuffix("*") for pattern in SETTINGS["setuptools"]["packages"]["find"]["include"]}
LINTER = SETTINGS["importlinter"]
[LAYERS] = [contract["layers"] for contract in LINTER["contracts"] if contract["name"] == "layers"]
PLACED = {module.strip().partition(".")[0] for layer in LAYERS for module in layer.split("|")}


@pytest.mark.parametrize(
    "named",
    [INSTALLED, set(SETTINGS["mypy"]["packages"]), set(LINTER["root_packages"]), PLACED],
    ids=["installed", "typed", "linted", "layered"],
)
def test_a_package_is_forgotten_nowhere(named: set[str]) -> None:
    assert named == PACKAGES
