"""Kind of plug-ins that ``pulumi`` would start, by the files in its search path."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.lab.toolchain.engine import MARK, PROVIDERS, plugin
from jacquard.lab.toolchain.serving import PlugIn, serving
from jacquard.machine.kind import Kind

ALONE = {"PULUMI_IGNORE_AMBIENT_PLUGINS": "true"}


def put(folder: Path, provider: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"pulumi-resource-{provider}").write_text(text)
    (folder / f"pulumi-resource-{provider}").chmod(0o755)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for provider in PROVIDERS:
        put(tmp_path / "plugins" / plugin(provider), provider, f"#!/bin/sh\n# {MARK}: stands in\n")
    return tmp_path


def kinds(variables: dict[str, str]) -> dict[str, Kind]:
    return {provider: one.kind for provider, one in serving(variables).items()}


def test_stand_ins_are_reported_with_the_replaced_plug_ins(home: Path) -> None:
    found = serving({"PULUMI_HOME": str(home), **ALONE})

    assert {provider: str(one) for provider, one in found.items()} == {
        "kubernetes": "stand-in 4.34.2",
        "command": "stand-in 1.2.1",
    }
    assert {provider: PlugIn.parse(str(one)) for provider, one in found.items()} == found


def test_the_vendors_plug_ins_are_reported_individually(home: Path) -> None:
    put(home / "plugins" / plugin("kubernetes"), "kubernetes", "\x7fELF")

    assert kinds({"PULUMI_HOME": str(home), **ALONE}) == {"kubernetes": Kind.VENDOR, "command": Kind.STAND_IN}


def test_missing_plug_ins_can_only_be_downloaded_from_the_vendor(tmp_path: Path) -> None:
    assert set(kinds({"PULUMI_HOME": str(tmp_path), **ALONE}).values()) == {Kind.VENDOR}


def test_without_a_home_the_users_home_is_searched(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "plugins").rename(home / "moved")
    (home / ".pulumi").mkdir()
    (home / "moved").rename(home / ".pulumi" / "plugins")
    monkeypatch.setenv("HOME", str(home))

    assert set(kinds(ALONE).values()) == {Kind.STAND_IN}


def test_plug_ins_on_the_path_are_first_unless_the_engine_ignores_it(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "bin", "kubernetes", "\x7fELF")
    variables = {"PULUMI_HOME": str(home), "PATH": str(tmp_path / "bin")}

    assert kinds(variables)["kubernetes"] is Kind.VENDOR
    assert kinds(variables | ALONE)["kubernetes"] is Kind.STAND_IN


def test_foreign_files_are_not_parsed() -> None:
    assert PlugIn.parse("another 1.0.0") is None
