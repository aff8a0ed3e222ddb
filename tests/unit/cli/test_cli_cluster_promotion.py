"""``jacquard promote`` for a control plane."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Invoke = Callable[..., Result]


@pytest.fixture
def asked_for(data_folder: Path) -> Path:
    """Return laptop's pins, where acme asks for the newer minor version of the catalogue."""
    path = data_folder / "laptop" / "tenants" / "acme.yaml"
    path.write_text(path.read_text().replace("version: v1.35.2", "version: v1.36.1", 1))
    return data_folder / "laptop" / "images.lock.yaml"


def test_a_control_plane_is_promoted_once_and_the_change_is_shown(invoke: Invoke, asked_for: Path) -> None:
    promote = ("promote", "laptop", "acme-train", "--to", "v1.36.1")

    first, second = invoke(*promote), invoke(*promote)

    assert "+  acme-train: {version: v1.36.1, data_store: shared-a}\n" in first.stdout
    assert first.stdout.endswith("acme-train: control plane promoted to v1.36.1; next: jacquard preview laptop\n")
    assert second.stdout == "acme-train: already pinned to v1.36.1, nothing to change\n"
    assert "  acme-train: {version: v1.36.1, data_store: shared-a}\n" in asked_for.read_text()


@pytest.mark.usefixtures("asked_for")
def test_a_promotion_is_data_as_well(invoke: Invoke) -> None:
    answer = json.loads(invoke("promote", "laptop", "acme-train", "--to", "v1.36.1", "--format", "json").stdout)

    assert {key: answer[key] for key in ("environment", "cluster", "version", "data_store")} == {
        "environment": "laptop",
        "cluster": "acme-train",
        "version": "v1.36.1",
        "data_store": "shared-a",
    }
    assert "+  acme-train: {version: v1.36.1, data_store: shared-a}" in answer["diff"]


@pytest.mark.parametrize("options", [(), ("--to", "v1.36.1", "--data-store", "dedicated")])
def test_a_control_plane_goes_to_one_place_at_a_time(invoke: Invoke, asked_for: Path, options: tuple[str, ...]) -> None:
    before = asked_for.read_text()

    result = invoke("promote", "laptop", "acme-train", *options)

    assert result.exit_code == 2
    assert "acme-train is a control plane: write either --to VERSION or --data-store NAME" in result.stderr
    assert asked_for.read_text() == before


def test_a_pool_has_no_data_store(invoke: Invoke) -> None:
    result = invoke("promote", "laptop", "acme-train/train", "--data-store", "shared-a")

    assert result.exit_code == 2
    assert "--data-store is only for control planes" in result.stderr
