"""Machines of other environments are found in tables of each form."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.specs.reading.neighbours import marks

TABLE = 'rack,host,boot_mac,serial\na01,one,"02:00:00:00:00:0a",s-1\na01,two,02:00:00:00:00:0b,s-2{}\n'
SOUGHT = {"boot_mac": {"02:00:00:00:00:0A"}, "serial": {"S-2"}}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("suffix", ["", "\u00a0"])
def test_marks_are_found(tmp_path: Path, newline: str, suffix: str) -> None:
    inventory = tmp_path / "other" / "inventory"
    inventory.mkdir(parents=True)
    (tmp_path / "other" / "region.yaml").write_text("region: other\n", encoding="utf-8")
    (inventory / "hall-a.csv").write_bytes(TABLE.format(suffix).replace("\n", newline).encode())

    place = "other (../other/inventory/hall-a.csv"
    assert marks(tmp_path, "mine", SOUGHT) == {
        ("boot_mac", "02:00:00:00:00:0A"): f"{place}:2)",
        ("serial", "S-2"): f"{place}:3)",
    }
    assert marks(tmp_path, "mine", {"serial": {"S-3"}}) == {}
