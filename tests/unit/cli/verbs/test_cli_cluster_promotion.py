"""``jacquard promote`` for a control plane."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from components.reports.control_planes import outdated_control_planes
from components.specs.environment import Environment
from tests.support.checks.places import resolved

Invoke = Callable[..., Result]


@pytest.fixture
def requested(data_folder: Path) -> Path:
    """Return laptop's pins after a request of acme for the newer minor version of the catalogue."""
    path = data_folder / "laptop" / "tenants" / "acme.yaml"
    path.write_text(path.read_text().replace("version: v1.35.2", "version: v1.36.1", 1))
    return data_folder / "laptop" / "images.lock.yaml"


def test_a_control_plane_is_promoted_once_and_the_change_is_shown(invoke: Invoke, requested: Path) -> None:
    promote = ("promote", "laptop", "acme-train", "--to", "v1.36.1")

    first, second = invoke(*promote), invoke(*promote)

    assert "+  acme-train: {version: v1.36.1, data_store: shared-a}\n" in first.stdout
    assert first.stdout.endswith("acme-train: control plane promoted to v1.36.1; next: jacquard preview laptop\n")
    assert second.stdout == "acme-train: already pinned to v1.36.1, nothing to change\n"
    assert "  acme-train: {version: v1.36.1, data_store: shared-a}\n" in requested.read_text()


@pytest.mark.usefixtures("requested")
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
def test_a_control_plane_is_upgraded_one_step_at_a_time(
    invoke: Invoke, requested: Path, options: tuple[str, ...]
) -> None:
    before = requested.read_text()

    result = invoke("promote", "laptop", "acme-train", *options)

    assert result.exit_code == 2
    assert "acme-train is a control plane: write either --to VERSION or --data-store NAME" in result.stderr
    assert requested.read_text() == before


def test_a_pool_has_no_data_store(invoke: Invoke) -> None:
    result = invoke("promote", "laptop", "acme-train/train", "--data-store", "shared-a")

    assert result.exit_code == 2
    assert "--data-store is only for control planes" in result.stderr


def test_check_reports_an_edited_version_until_the_promotion(
    invoke: Invoke, data_folder: Path, requested: Path
) -> None:
    wish = ("version is v1.35.2, data has v1.36.1", "jacquard promote laptop acme-train --to v1.36.1")
    there = resolved("tenants/acme.yaml:<clusters.acme-train.version>", data_folder / "laptop")
    line = f"  out of date: acme-train: {wish[0]} ({there}); to update: {wish[1]}"

    before = invoke("check", "laptop").stdout
    [answer] = json.loads(invoke("check", "laptop", "--format", "json").stdout)
    invoke("promote", "laptop", "acme-train", "--to", "v1.36.1")
    after = invoke("check", "laptop").stdout

    assert [line in text.splitlines() for text in (before, after)] == [True, False]
    difference = {"field": "version", "pinned": "v1.35.2", "data": "v1.36.1", "where": there}
    assert answer["control_planes_behind"] == [{"cluster": "acme-train", "differences": [difference]}]
    assert requested.exists()


def test_a_requested_data_store_is_reported_too(laptop: Environment) -> None:
    [acme, globex] = laptop.tenants
    planes = acme.clusters[0].control_plane.model_copy(update={"data_store": "dedicated"})
    moved = acme.model_copy(update={"clusters": (acme.clusters[0].model_copy(update={"control_plane": planes}),)})

    [found] = outdated_control_planes(laptop.model_copy(update={"tenants": (moved, globex)}))

    assert [(one.field, one.pinned, one.data) for one in found.differences] == [("data_store", "shared-a", "dedicated")]
    assert found.promotion == "acme-train --data-store dedicated"
    assert outdated_control_planes(laptop) == ()
