"""Causes of rows: edits that have the effect when applied alone, with hand-written files first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from components.allocate.releases import release_hosts
from jacquard.previews.impacts import trials
from jacquard.previews.impacts.impact import Impact, Row
from jacquard.previews.impacts.trials import Trials
from tests.support.changes.impacts import edited, impact_of
from tests.support.data.lock_files import write_locks

LABEL = ("tenants/acme.yaml", "workload: inference", "workload: serving")
SPARES_FIRST = ("tenants/acme.yaml", "rollout: {max_unavailable: 50%}", "rollout: {max_unavailable: 50%, surge: 1}")
REPLICAS = ("tenants/globex.yaml", "control_plane: {replicas: 2", "control_plane: {replicas: 3")


def racks(count: int) -> str:
    """Return the rows of further racks of six hosts in hall a."""
    places = [(rack, slot) for rack in range(5, 5 + count) for slot in range(1, 7)]
    return "".join(
        f"a{rack:02d},{slot},a{rack:02d}-u{slot:02d},cpu-gen4,C26A{rack:02d}{slot:02d},"
        f"redfish-virtualmedia+https://10.1.{rack}.{slot}/redfish/v1/Systems/1,bmc-a{rack:02d},"
        f'"02:00:00:01:{rack:02x}:{slot:02x}",MT26A{rack:02d}{slot:02d},leaf-a{rack}\n'
        for rack, slot in places
    )


def impact(folder: Path, *changes: Sequence[str], then: Sequence[str] = ()) -> Impact:
    return impact_of(edited(folder, "laptop", changes, then))


def paths(row: Row) -> list[str]:
    return [f"{cause.file} {cause.path}" for cause in row.causes]


def test_many_hosts_are_the_cause_of_longer_timeouts_of_all_pools(tmp_path: Path) -> None:
    found = impact(tmp_path, ("inventory/hall-a.csv", racks(5)), LABEL)

    pools = [row for row in found.rows if row.part.count("/") == 1]
    hosts = [f"inventory/hall-a.csv a{rack:02d}-u{slot:02d}" for rack in range(5, 10) for slot in range(1, 7)]
    assert [row.part for row in pools] == [
        "acme-train/infer",
        "acme-train/system",
        "acme-train/train",
        "globex-lab/lab",
    ]
    assert [paths(row) for row in pools] == [hosts] * 4
    [labelled] = [row for row in found.rows if row.part == "acme-train/infer/a03"]
    assert paths(labelled) == ["tenants/acme.yaml clusters.acme-train.pools.infer.labels.workload"]


def test_edits_of_one_row_are_causes_if_each_changes_a_field_with_the_worst_effect(tmp_path: Path) -> None:
    [row] = impact(tmp_path, LABEL, SPARES_FIRST).rows

    assert paths(row) == [
        "tenants/acme.yaml clusters.acme-train.pools.infer.labels.workload",
        "tenants/acme.yaml clusters.acme-train.pools.infer.rollout.surge",
    ]
    assert all(cause.alone for cause in row.causes)


def test_a_new_file_is_the_cause_of_all_its_parts(tmp_path: Path) -> None:
    found = impact(tmp_path, ("tenants/globex.yaml",), then=["allocate"])

    assert {path for row in found.rows for path in paths(row)} == {"tenants/globex.yaml "}


def test_hosts_released_by_a_command_are_causes_themselves(tmp_path: Path) -> None:
    shrunk, released = (
        edited(tmp_path / side, "laptop", [("tenants/acme.yaml", "nodes: 10", "nodes: 8")], ["allocate"])
        for side in ("base", "head")
    )
    spec = released.load()
    write_locks(spec, released.root, *release_hosts(spec, "acme-train/train", 1))
    found = impact_of(released, shrunk.root)

    assert [paths(row) for row in found.rows if row.effect == "deleted"] == [["allocations.lock.yaml hosts.a02-u06"]]


def test_one_edit_needs_no_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trials, "_changes", lambda *_: pytest.fail("tried"))

    found = impact(tmp_path, ("tenants/acme.yaml", "nodes: 10", "nodes: 9"), then=["allocate"])

    assert [paths(row) for row in found.rows] == [["tenants/acme.yaml clusters.acme-train.pools.train.nodes"]]


def test_the_nearest_edits_are_causes_if_there_are_too_many_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MOST", 0)

    found = impact(tmp_path, LABEL, REPLICAS)

    assert {row.part: paths(row) for row in found.rows} == {
        "acme-train/infer/a03": ["tenants/acme.yaml clusters.acme-train.pools.infer.labels.workload"],
        "globex-lab": ["tenants/globex.yaml clusters.globex-lab.control_plane.replicas"],
        "isolation": ["tenants/globex.yaml clusters.globex-lab.control_plane.replicas"],
    }
