"""Edits with a known effect: the verdict, and the named tenants."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.cli.views.changes.impact_verdict import verdict
from jacquard.previews.impacts.impact import Impact
from tests.support.changes.impacts import edit, edited, impact_of, rows

TABLE: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "effects_of_edits.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["name"])
def test_an_edit_has_the_effect_that_is_known(case: dict[str, Any], tmp_path: Path) -> None:
    earlier = case.get("before", {})
    bench = edited(tmp_path, case.get("environment", "laptop"), earlier.get("edits", ()), earlier.get("then", ()))
    base = Path(shutil.copytree(bench.root, tmp_path / "base"))
    edit(bench, case.get("edits", ()), case.get("then", ()))

    found = impact_of(bench, base)

    assert list(verdict(found)) == case["verdict"]
    assert [row.partition("; ")[0] for row in rows(found)] == case["rows"]
    assert [tenant.tenant for tenant in found.tenants if tenant.asks] == case["asked"]
    assert [item.command for item in found.behind if item.new] == case["pending"]
    assert case.get("capacity", capacity(found)) == capacity(found)


def capacity(impact: Impact) -> list[str]:
    """Return the contracted nodes that remain available, for each tenant and instance type."""
    return [
        f"{tenant.tenant} {item.instance_type} {item.lowest} of {item.contracted}"
        for tenant in impact.tenants
        for item in tenant.capacity
    ]
