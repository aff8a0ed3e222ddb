"""Backups of the stores: the jobs next to the storage pods, and their retention."""

from __future__ import annotations

from typing import Any

from components.render.manifest import ManifestSet, objects
from components.render.region import metrics_store
from components.render.region.logs import log_store
from components.render.region.stores import store_backups
from components.specs.region.region import RegionSpec
from components.specs.region.store_backups import StoreBackupSpec
from tests.support.data.environment_data import reference
from tests.support.monitoring.stored_region import RECORDS, region

IMAGES = {name: f"registry.example/{name}" for names in store_backups.TOOLS.values() for name in names}
BACKUP = StoreBackupSpec(
    schedule="0 2 * * *", endpoint="https://objects.example", bucket="stores", secret="store-backup", keep_days=9
)


def saved() -> RegionSpec:
    """Return a region with backups of both stores."""
    spec = region(backup=BACKUP)
    assert spec.observability is not None
    assert spec.observability.metrics is not None
    metrics = spec.observability.metrics.model_copy(update={"backup": BACKUP})
    changed: RegionSpec = spec.model_copy(
        update={"observability": spec.observability.model_copy(update={"metrics": metrics})}
    )
    return changed


def jobs(store: str) -> dict[str, dict[str, Any]]:
    """Return the pods of the CronJobs of a store, by storage pod."""
    rendered = store_backups.render(saved(), IMAGES)
    [found] = [item for item in rendered if isinstance(item, ManifestSet) and item.name == f"{store}-backups"]
    return {name: item.body["spec"]["jobTemplate"]["spec"]["template"]["spec"] for name, item in found.members.items()}


def steps(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the containers of a pod in the order in which they run."""
    return {step["name"]: step for step in (*pod["initContainers"], *pod["containers"])}


def test_without_a_backup_there_are_no_jobs() -> None:
    assert store_backups.render(region(), IMAGES) == ()
    assert store_backups.render(reference("laptop").region, IMAGES) == ()


def test_each_storage_pod_has_a_job_on_its_host_that_mounts_its_volume_read_only() -> None:
    [cluster] = [item for item in objects(metrics_store.render(saved(), {}, RECORDS)) if item.kind == "VMCluster"]
    [logs] = [item for item in log_store.render(saved()) if item.kind == "VLCluster"]
    for store, part, storage in (
        ("metrics", "vmstorage", cluster.body["spec"]["vmstorage"]),
        ("logs", "vlstorage", logs.body["spec"]["vlstorage"]),
    ):
        found = jobs(store)
        assert [*found] == [f"{part}-{store}-{index}" for index in range(storage["replicaCount"])]
        for name, pod in found.items():
            volume = pod["volumes"][0]
            assert volume == {"name": "storage", "persistentVolumeClaim": {"claimName": f"{part}-db-{name}"}}
            [host] = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            assert host["labelSelector"] == {"matchLabels": {"statefulset.kubernetes.io/pod-name": name}}
            assert host["topologyKey"] == "kubernetes.io/hostname"
            mounts = [mount for step in steps(pod).values() for mount in step["volumeMounts"]]
            assert {mount["mountPath"] for mount in mounts if mount["name"] == "storage"} == {f"/{part}-data"}
            assert all(mount.get("readOnly") for mount in mounts if mount["name"] == "storage")
            assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["runAsGroup"] == 65534
            assert "fsGroup" not in pod["securityContext"]


def test_metrics_are_uploaded_then_copied_inside_the_bucket_and_old_copies_are_deleted() -> None:
    found = steps(jobs("metrics")["vmstorage-metrics-1"])

    assert [*found] == ["upload", "keep", "expire"]
    assert found["upload"]["args"] == [
        "-storageDataPath=/vmstorage-data",
        "-snapshot.createURL=http://vmstorage-metrics-1.vmstorage-metrics.metrics.svc:8482/snapshot/create",
        "-dst=s3://stores/latest/metrics/vmstorage-metrics-1",
        "-customS3Endpoint=https://objects.example",
    ]
    assert found["keep"]["args"] == [
        "-origin=s3://stores/latest/metrics/vmstorage-metrics-1",
        "-dst=s3://stores/history/metrics/vmstorage-metrics-1/$(POD)",
        "-customS3Endpoint=https://objects.example",
    ]
    expire = ["delete", ":s3:stores/history/metrics/vmstorage-metrics-1", "--min-age", "9d", "--use-server-modtime"]
    assert found["expire"]["args"] == expire
    images = [step["image"] for step in found.values()]
    assert images == [IMAGES["vmbackup"], IMAGES["vmbackup"], IMAGES["rclone"]]


def test_logs_are_copied_from_a_snapshot_that_is_deleted_before_the_copy_in_the_bucket() -> None:
    found = steps(jobs("logs")["vlstorage-logs-0"])

    assert [*found] == ["snapshot", "upload", "release", "keep", "complete", "expire"]
    assert found["snapshot"]["env"] == [
        {"name": "STORE", "value": "http://vlstorage-logs-0.vlstorage-logs.metrics.svc:9491"}
    ]
    latest, kept = ":s3:stores/latest/logs/vlstorage-logs-0", ":s3:stores/history/logs/vlstorage-logs-0"
    assert {name: step["args"] for name, step in found.items() if "args" in step} == {
        "upload": ["sync", "--copy-links", "/work/partitions", latest],
        "keep": ["copy", latest, f"{kept}/$(POD)/partitions"],
        "complete": ["touch", f"{kept}/$(POD)/complete"],
        "expire": ["delete", kept, "--min-age", "9d", "--use-server-modtime"],
    }


def test_the_login_of_the_bucket_is_only_in_variables_of_programs_that_use_it() -> None:
    for store, pod in (("metrics", "vmstorage-metrics-0"), ("logs", "vlstorage-logs-0")):
        for name, step in steps(jobs(store)[pod]).items():
            secrets = [entry["valueFrom"]["secretKeyRef"] for entry in step["env"] if "secretKeyRef" in str(entry)]
            keys = [] if name in {"snapshot", "release"} else ["access_key_id", "secret_access_key"]
            assert secrets == [{"name": "store-backup", "key": key} for key in keys], name


def test_runs_never_overlap_and_are_not_repeated() -> None:
    [item, *_] = [item for item in objects(store_backups.render(saved(), IMAGES)) if item.kind == "CronJob"]
    spec = item.body["spec"]

    assert (spec["schedule"], spec["timeZone"], spec["concurrencyPolicy"]) == ("0 2 * * *", "Etc/UTC", "Forbid")
    assert (spec["jobTemplate"]["spec"]["backoffLimit"], item.namespace) == (0, "metrics")
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] < 24 * 3600


def test_a_backup_changes_nothing_of_the_stores() -> None:
    changed, plain = saved(), region()

    assert metrics_store.render(changed, {}, RECORDS) == metrics_store.render(plain, {}, RECORDS)
    assert log_store.render(changed) == log_store.render(plain)
