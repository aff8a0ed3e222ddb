"""Snapshots of virtual machines: one for each day in rotation, created with kubectl."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.render.manifest import Manifest
from components.render.vms.vm_snapshots import VmSnapshots, vm_snapshots
from components.specs.storage.snapshots import VmSnapshotsSpec

MACHINES = ("forge", "wiki")


@pytest.fixture
def rendered() -> list[Manifest]:
    """Return the rendered snapshot objects of two machines for Monday and Thursday."""
    spec = VmSnapshotsSpec.model_validate({"at": "03:15", "days": ["mon", "thu"]})
    snapshots = VmSnapshots(spec=spec, image="kubectl@sha256:0", machines=MACHINES)
    return list(vm_snapshots("c1", snapshots, system_pool=True))


def of(rendered: list[Manifest], kind: str) -> list[Manifest]:
    return [item for item in rendered if item.kind == kind]


def pod(job: Manifest) -> dict[str, Any]:
    return dict(job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"])


def test_each_day_has_a_run_in_utc_that_is_never_tried_again(rendered: list[Manifest]) -> None:
    specs = [item.body["spec"] for item in of(rendered, "CronJob")]

    assert [(spec["schedule"], spec["timeZone"]) for spec in specs] == [
        ("15 3 * * mon", "Etc/UTC"),
        ("15 3 * * thu", "Etc/UTC"),
    ]
    assert {spec["jobTemplate"]["spec"]["backoffLimit"] for spec in specs} == {0}


def test_each_run_creates_one_snapshot_of_each_machine_named_after_its_day(rendered: list[Manifest]) -> None:
    [files] = of(rendered, "ConfigMap")
    asked: dict[str, list[str]] = {}
    for job in of(rendered, "CronJob"):
        for container in pod(job)["containers"]:
            [argument] = [one for one in container["args"] if one.startswith("--filename=")]
            [mount] = container["volumeMounts"]
            snapshot = json.loads(files.body["data"][argument.removeprefix(f"--filename={mount['mountPath']}/")])
            assert snapshot["spec"]["source"]["name"] == container["name"]
            asked.setdefault(container["name"], []).append(snapshot["metadata"]["name"])

    assert asked == {name: [f"{name}-mon", f"{name}-thu"] for name in MACHINES}


def test_all_objects_are_in_the_namespace_of_vms_and_run_on_service_nodes(rendered: list[Manifest]) -> None:
    assert {(item.cluster, item.body["metadata"]["namespace"]) for item in rendered} == {("c1", "virtual-machines")}
    for job in of(rendered, "CronJob"):
        assert pod(job)["nodeSelector"]["node-restriction.kubernetes.io/role"] == "system"


def test_a_plain_week_has_a_snapshot_for_each_day() -> None:
    assert len(VmSnapshotsSpec.model_validate({"at": "03:15"}).days) == 7
