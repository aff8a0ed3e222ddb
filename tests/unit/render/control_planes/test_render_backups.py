"""Verifications and recovery points of the backups of data stores."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.inputs.region import of_region
from components.render.control_planes.sizing import Component, resources
from components.render.manifest import Manifest
from components.specs.control_planes.data_stores import BackupSpec, RestoreStep
from components.specs.environment import Environment
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.storage.restored_store import BACKUP, COPIED, ETCD, SNAPSHOT, rendered, restored

STOP = RestoreStep.STOP


def saved(**backup: Any) -> Environment:
    """Return laptop whose shared data store has a backup with these fields."""
    environment = restored(None)
    [shared, *others] = environment.region.control_planes.data_stores
    spec = BackupSpec.model_validate({**BACKUP.model_dump(exclude_unset=True), **backup})
    stores = (changed(shared, backup=spec), *others)
    control_planes = changed(environment.region.control_planes, data_stores=stores)
    return changed(environment, region=changed(environment.region, control_planes=control_planes))


def verification(environment: Environment) -> Manifest:
    [found] = [item for item in rendered(None, environment) if item.name == f"{ETCD}-verify"]
    return found


def pod(item: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = item.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def values(container: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_a_data_store_with_a_backup_is_verified_every_day() -> None:
    item = verification(saved())

    assert item.body["spec"]["schedule"] == "47 4 * * *"
    fetch, restore, etcd = pod(item)["initContainers"]
    assert (values(fetch)["SOURCE"], values(fetch)["RECOVERY_POINT_MINUTES"]) == ("etcd/data-stores/shared-a", "720")
    assert restore["args"] == ["snapshot", "restore", "/scratch/snapshot.db", "--data-dir=/scratch/etcd"]
    assert (etcd["command"], etcd["restartPolicy"]) == (["etcd"], "Always")
    assert verification(saved(verification="0 5 * * 0")).body["spec"]["schedule"] == "0 5 * * 0"


def test_a_data_store_without_a_backup_is_not_verified() -> None:
    environment = restored(None)
    others = environment.region.control_planes.data_stores[1:]
    assert all(store.backup is None for store in others)

    [region] = of_region(environment, environment.region)

    assert [item.name for item in objects_of(region) if item.name.endswith("-verify")] == [f"{ETCD}-verify"]


def test_space_and_resources_follow_the_data_store() -> None:
    environment = saved()
    [shared, *others] = environment.region.control_planes.data_stores

    def space(size: str) -> tuple[str, str]:
        control_planes = changed(environment.region.control_planes, data_stores=(changed(shared, size=size), *others))
        found = pod(
            verification(changed(environment, region=changed(environment.region, control_planes=control_planes)))
        )
        request: str = found["initContainers"][0]["resources"]["requests"]["ephemeral-storage"]
        return found["volumes"][0]["emptyDir"]["sizeLimit"], request

    assert space("2Gi") == ("5120Mi", "5120Mi")
    assert space("200Gi") == space("8Gi") == ("17408Mi", "17408Mi")
    member = resources(shared.max_nodes, Component.ETCD)["requests"]
    scratch = pod(verification(environment))["initContainers"][1]["resources"]["requests"]
    assert {name: int(text.rstrip("mMi")) for name, text in member.items()} == {
        name: 4 * int(text.rstrip("mMi")) for name, text in scratch.items()
    }


@pytest.mark.parametrize(
    ("metrics", "outcome"),
    [
        ("etcd_debugging_mvcc_keys_total 81233", (0, "db, 47 min old: 81233 keys")),
        ("etcd_debugging_mvcc_keys_total 1.234567e+06", (0, "db, 47 min old: 1234567 keys")),
        ("etcd_debugging_mvcc_keys_total 0", (1, "db, 47 min old: contains no keys")),
        ("etcd_keys 5", (1, "the restored etcd has no metric etcd_debugging_mvcc_keys_total")),
        (None, (1, "the restored etcd does not answer")),
    ],
)
def test_the_number_of_keys_is_read_from_the_metrics(
    metrics: str | None, outcome: tuple[int, str], tmp_path: Path
) -> None:
    answer = "exit 1" if metrics is None else f"echo '# TYPE etcd_debugging_mvcc_keys_total gauge'; echo '{metrics}'"
    for name, script in (("wget", answer), ("sleep", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "title").write_text("db, 47 min old")
    [count] = pod(verification(saved()))["containers"]
    command = [word.replace("/scratch", str(tmp_path)) for word in count["command"]]

    found = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)

    assert (done.returncode, (done.stdout + done.stderr).strip()) == outcome


@pytest.mark.parametrize(
    ("backup", "minutes"),
    [
        ({}, 720),
        ({"schedule": "30 2 * * *"}, 2880),
        ({"schedule": "30 2 * * 1-5"}, 8640),
        ({"recovery_point_hours": 8}, 480),
    ],
)
def test_an_alert_and_the_verification_use_the_recovery_point(backup: dict[str, Any], minutes: int) -> None:
    environment = saved(**backup)

    assert values(pod(verification(environment))["initContainers"][0])["RECOVERY_POINT_MINUTES"] == str(minutes)
    [alert] = [alert for alert in alerts(environment) if alert["alert"] == "RecoveryPointMissed"]
    assert alert["expr"].endswith(f" > {60 * minutes}")
    assert alert["labels"] == {"severity": "critical", "audience": "operators", "cluster": "shared-a"}
    assert f"for {minutes} min" in alert["annotations"]["summary"]


def test_only_data_stores_with_a_backup_have_its_alerts() -> None:
    found = [(alert["alert"], alert["labels"]["cluster"]) for alert in alerts(saved())]

    assert found[:4] == [
        (name, "shared-a")
        for name in ("EtcdWithoutLeader", "EtcdNearlyFull", "RecoveryPointMissed", "BackupNotVerified")
    ]
    assert {name for name, cluster in found if cluster != "shared-a"} == {"EtcdWithoutLeader", "EtcdNearlyFull"}


def alerts(environment: Environment) -> list[dict[str, Any]]:
    """Return the alerts of the shared data stores."""
    [region] = of_region(environment, environment.region)
    [rule] = [item for item in objects_of(region) if (item.kind, item.name) == ("PrometheusRule", "data-stores")]
    found: list[dict[str, Any]] = rule.body["spec"]["groups"][0]["rules"]
    return found


def test_a_snapshot_is_copied_encrypted_and_compared_with_the_logins_of_the_second_bucket() -> None:
    items = {item.name: pod(item) for item in rendered(None, restored(None, COPIED)) if item.kind == "CronJob"}
    upload, copy = items[f"{ETCD}-backup"]["containers"]
    fetch, compare, *_ = items[f"{ETCD}-verify"]["initContainers"]

    assert copy["command"][-1].endswith("rclone copy /snapshots :crypt:\n")
    for container, endpoint, secret in (
        (upload, "https://objects.example", "etcd-backup"),
        (fetch, "https://objects.example", "etcd-backup"),
        (copy, "https://other.example", "etcd-copies"),
        (compare, "https://other.example", "etcd-copies"),
    ):
        assert values(container)["RCLONE_S3_ENDPOINT"] == endpoint
        assert {entry["valueFrom"]["secretKeyRef"]["name"] for entry in container["env"] if "valueFrom" in entry} == {
            secret
        }
    assert values(copy)["RCLONE_CRYPT_REMOTE"] == ":s3:copies/data-stores/shared-a"
    assert values(copy) == values(compare)


def test_a_copy_that_is_not_encrypted_needs_no_password() -> None:
    second = changed(COPIED.second_bucket, encrypted=False)
    [backup] = [
        item
        for item in rendered(None, restored(None, changed(COPIED, second_bucket=second)))
        if item.name == f"{ETCD}-backup"
    ]
    _, copy = pod(backup)["containers"]

    assert copy["command"][-1] == "set -eu\nrclone copy /snapshots :s3:copies/data-stores/shared-a/\n"
    assert "encryption_password" not in str(copy["env"])


@pytest.mark.parametrize(
    ("second", "source"), [(False, f":s3:etcd/data-stores/shared-a/{SNAPSHOT}"), (True, f":crypt:{SNAPSHOT}")]
)
def test_a_restore_downloads_from_the_chosen_bucket(*, second: bool, source: str) -> None:
    jobs = [item for item in rendered(STOP, restored(STOP, COPIED, second=second)) if item.kind == "Job"]

    downloads = [job.body["spec"]["template"]["spec"]["initContainers"][0] for job in jobs]

    assert {values(download)["SOURCE"] for download in downloads} == {source}
