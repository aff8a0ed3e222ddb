"""Edits between two folders: each value with its line, list entries by name, no edits for equal meanings."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.previews.impacts.edits import edits, with_edit
from tests.support.checks.places import resolved
from tests.support.data.environment_data import ENVIRONMENTS, LAPTOP, copy_data


@pytest.fixture
def head(tmp_path: Path) -> Path:
    return copy_data(tmp_path / "environments", "laptop")


def changed(head: Path, file: str, old: str, new: str) -> list[tuple[str, str, object, object]]:
    """Return place, path and both values of each difference after replacing ``old`` by ``new`` in a file."""
    path = head / "laptop" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return [(edit.place, edit.path, edit.old, edit.new) for edit in edits(ENVIRONMENTS, head, "laptop")]


def test_equal_folders_have_no_edits(head: Path) -> None:
    assert edits(ENVIRONMENTS, head, "laptop") == ()


def test_a_comment_and_another_order_of_keys_are_no_edit(head: Path) -> None:
    found = changed(head, "tenants/acme.yaml", "{alerts: oncall@acme.example, changes: platform@acme.example}",
                    "{changes: platform@acme.example, alerts: oncall@acme.example}  # people")  # fmt: skip
    assert found == []


def test_an_entry_of_a_list_is_called_by_its_name(head: Path) -> None:
    path = "clusters.acme-train.pools.train.nodes"
    place = resolved(f"tenants/acme.yaml:<{path}>", LAPTOP)
    assert changed(head, "tenants/acme.yaml", "nodes: 10", "nodes: 9") == [(place, path, 10, 9)]


def test_removed_values_have_their_previous_line(head: Path) -> None:
    found = changed(head, "tenants/acme.yaml", "    egress: public\n", "")
    assert found == [(resolved("tenants/acme.yaml:<vpcs.acme.egress>", LAPTOP), "vpcs.acme.egress", "public", None)]


def test_a_cell_of_the_inventory_has_the_line_of_its_host(head: Path) -> None:
    found = changed(head, "inventory/hall-a.csv", "MT26A0102", "MT26A9102")
    place = resolved("inventory/hall-a.csv:<a01-u02>", LAPTOP)
    assert found == [(place, "a01-u02.dpu_serial", "MT26A0102", "MT26A9102")]


def test_a_file_of_the_catalogue_and_one_that_is_new_are_named_as_reports_name_them(head: Path) -> None:
    (head / "laptop" / "policy.yaml").write_text("schema_version: 1\n", encoding="utf-8")
    found = changed(head, "../catalog/versions.yaml", "version: v1.19.2", "version: v1.19.3")
    place = resolved("../catalog/versions.yaml:<charts.cert-manager.version>", LAPTOP)
    assert found == [
        (place, "charts.cert-manager.version", "v1.19.2", "v1.19.3"),
        ("policy.yaml:1", "", None, {"schema_version": 1}),
    ]


def test_an_edit_is_written_at_the_path_of_its_names() -> None:
    document = {"pools": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 2}], "kept": True}

    assert with_edit(document, ("pools", "b", "nodes"), 3)["pools"][1] == {"name": "b", "nodes": 3}
    assert with_edit(document, ("pools", "a"), None)["pools"] == [{"name": "b", "nodes": 2}]
    assert with_edit(document, ("pools", "c"), {"name": "c"})["pools"][2] == {"name": "c"}
    assert with_edit(document, ("kept",), None) == {"pools": document["pools"]}
    assert document["kept"] is True
