"""Explanations of an impact: one for rows of one part that differ only in tenant and numbers."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from jacquard.cli.views.changes.impact import lines
from jacquard.cli.views.changes.impact_comment import comment
from jacquard.cli.views.report.parts import parts
from tests.support.changes.impacts import edited, impact_of


def test_rows_of_several_tenants_have_one_explanation(tmp_path: Path) -> None:
    found = impact_of(edited(tmp_path, "laptop", [("region.yaml", "vip: 10.0.0.20", "vip: 10.0.0.21")], []))

    text = [line.plain for line in lines(found) if isinstance(line, Text)]

    assert [row.tenant for row in found.rows] == ["acme", "globex", None]
    assert text.count("foundation: dpus") == 1
    assert comment([found]).count("The control plane of joined DPUs would change") == 1


def test_the_page_counts_an_object_of_several_clusters_once(tmp_path: Path) -> None:
    old, new = (f'charts/kamaji-etcd", version: 0.14.{fix}' for fix in (0, 1))
    change = ("../catalog/versions.yaml", old, new)
    found = impact_of(edited(tmp_path, "laptop", [change], []))

    _, [affected], _ = parts(found)

    assert [row.part for row in found.rows] == ["acme-train", "globex-lab"]
    assert affected.name == "acme-train, globex-lab"
    assert {(reason.kind.rpartition("/")[2], reason.objects) for reason in affected.reasons} == {("OCIRepository", 1)}


def test_a_removed_host_without_a_node_is_not_deprovisioned(tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", [], [])
    inventory = bench.folder / "inventory" / "hall-a.csv"
    rows = inventory.read_text(encoding="utf-8").splitlines(keepends=True)
    inventory.write_text("".join(row for row in rows if "a04-u06" not in row), encoding="utf-8")

    [host] = [item for row in impact_of(bench).rows for item in row.forced_by if item.kind == "metal3.io/BareMetalHost"]

    assert (host.path, host.effect) == ("deleted", "deleted")
    assert host.why == ("No node runs on the host, which is cleaned according to its cleaning mode, and unregistered.")
