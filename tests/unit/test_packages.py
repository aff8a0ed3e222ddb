"""Every package is configured in the installation, the type checker and the layers."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from jacquard.machine import paths

PACKAGES = {file.parent.name for file in paths.ROOT.glob("*/__init__.py")}
SETTINGS: dict[str, Any] = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
INSTALLED = {pattern.removesuffix("*") for pattern in SETTINGS["setuptools"]["packages"]["find"]["include"]}
LINTER = SETTINGS["importlinter"]
[LAYERS] = [contract["layers"] for contract in LINTER["contracts"] if contract["name"] == "layers"]
PLACED = {module.strip() for layer in LAYERS for module in layer.split("|")}


@pytest.mark.parametrize(
    "named",
    [INSTALLED, set(SETTINGS["mypy"]["packages"]), set(LINTER["root_packages"])],
    ids=["installed", "typed", "linted"],
)
def test_every_top_level_package_is_listed(named: set[str]) -> None:
    assert named == PACKAGES == {"components", "jacquard", "policies", "stacks"}


def test_every_package_of_jacquard_has_a_layer() -> None:
    packages = {f"jacquard.{file.parent.name}" for file in (paths.ROOT / "jacquard").glob("*/__init__.py")}
    parts = {f"jacquard.lab.{file.parent.name}" for file in (paths.ROOT / "jacquard" / "lab").glob("*/__init__.py")}
    modules = {f"jacquard.{file.stem}" for file in (paths.ROOT / "jacquard").glob("[!_]*.py")}

    assert (packages - {"jacquard.lab"}) | parts | modules | {"components", "policies", "stacks"} == PLACED
