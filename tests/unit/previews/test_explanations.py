"""Explanations of an impact: one for rows of one part that differ only in tenant and numbers."""

from __future__ import annotations

from pathlib import Path

from impacts import edited, impact_of
from rich.text import Text

from jacquard.cli.views.changes.impact import lines
from jacquard.cli.views.changes.impact_comment import comment


def test_rows_of_several_tenants_have_one_explanation(tmp_path: Path) -> None:
    found = impact_of(edited(tmp_path, "laptop", [("region.yaml", "vip: 10.0.0.20", "vip: 10.0.0.21")], []))

    text = [line.plain for line in lines(found) if isinstance(line, Text)]

    assert [row.tenant for row in found.rows] == ["acme", "globex", None]
    assert text.count("foundation: dpus") == 1
    assert comment([found]).count("The control plane of joined DPUs would change") == 1
