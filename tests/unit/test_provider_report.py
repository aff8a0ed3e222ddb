"""The summary of end-to-end tests states which provider plug-ins they ran with."""

from __future__ import annotations

from pathlib import Path

from jacquard.lab.toolchain.engine import Engine
from tests.support.engine.provider_report import provider_line


def test_missing_vendor_plug_ins_are_reported_with_the_command_to_use_them() -> None:
    assert provider_line(Engine(version="v3.259.0", why="pulumi is not on PATH")) == (
        "plug-ins: the stand-ins; nothing ran with the vendor's (pulumi is not on PATH). Where they are installed, "
        "JACQUARD_TOOLCHAIN=vendor runs the same tests with them"
    )


def test_the_vendors_are_named_with_their_engine() -> None:
    engine = Engine(vendor=Path("/opt/pulumi"), version="v3.260.0", why="installed and complete")

    assert provider_line(engine) == "plug-ins: the vendor's, of /opt/pulumi v3.260.0"
