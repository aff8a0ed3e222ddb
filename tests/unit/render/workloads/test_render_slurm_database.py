"""The database server of a Slurm cluster: its volume, pod and restarts. `test_slurm_database` runs its commands."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.buckets import of_cluster as buckets_of
from components.lookups.effects.changes import changes
from components.lookups.effects.effect import Effect
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.storage.buckets import BucketSpec, ObjectStoreSpec
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_clusters import placed_slurm, slurm_input

BACKUP = {
    "schedule": "30 1 * * *",
    "endpoint": "https://objects.example",
    "bucket": "dumps",
    "secret": "dump-keys",
}
SERVER = {"storage_class": "shared-nfs", "size": "20Gi"}


def rendered(laptop: Environment, **accounting: Any) -> list[Manifest]:
    spec = {"server": SERVER, "password_secret": "database", **accounting}
    return list(objects_of(slurm_input(laptop, accounting=spec)))


def of_kind(objects: list[Manifest], kind: str) -> Manifest:
    [found] = [item for item in objects if item.kind == kind and item.name.startswith("slurm-database")]
    return found


def effects(laptop: Environment, **accounting: Any) -> set[tuple[str, Effect]]:
    """Return kinds and effects of the objects that change with other data of the accounting."""
    found = changes(rendered(laptop), rendered(laptop, **accounting))
    return {(change.kind, change.effect) for change in found}


def test_slurmdbd_connects_to_the_service_of_the_pod(laptop: Environment) -> None:
    objects = rendered(laptop)
    [accounting] = [item for item in objects if item.kind == "Accounting"]
    service, server = of_kind(objects, "Service"), of_kind(objects, "StatefulSet")

    assert accounting.body["spec"]["storageConfig"] == {
        "host": service.name,
        "port": service.body["spec"]["ports"][0]["port"],
        "database": "slurm_acct_db",
        "username": "slurm",
        "passwordKeyRef": {"name": "database", "key": "password"},
    }
    labels = server.body["spec"]["template"]["metadata"]["labels"]
    assert service.body["spec"]["selector"] == labels == server.body["spec"]["selector"]["matchLabels"]


def test_the_volume_outlives_the_pod_and_the_slurm_cluster(laptop: Environment) -> None:
    objects = rendered(laptop)
    claim, pod = of_kind(objects, "PersistentVolumeClaim"), of_kind(objects, "StatefulSet").body["spec"]["template"]

    assert claim.retain
    assert claim.body["spec"]["resources"]["requests"] == {"storage": "20Gi"}
    assert {"name": "data", "persistentVolumeClaim": {"claimName": claim.name}} in pod["spec"]["volumes"]


def test_an_update_does_not_wait_for_a_secret_that_the_tenant_creates(laptop: Environment) -> None:
    objects = rendered(laptop)

    for kind in ("PersistentVolumeClaim", "Service", "StatefulSet"):
        assert of_kind(objects, kind).body["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_dumps_are_copied_to_the_bucket_by_pods_that_reach_the_server(laptop: Environment) -> None:
    objects = rendered(laptop, server={**SERVER, "backup": BACKUP})
    job = of_kind(objects, "CronJob")
    template = job.body["spec"]["jobTemplate"]["spec"]["template"]
    [dump], [upload] = template["spec"]["initContainers"], template["spec"]["containers"]
    [rule] = of_kind(objects, "NetworkPolicy").body["spec"]["ingress"]

    assert job.body["spec"]["schedule"] == "30 1 * * *"
    assert {"podSelector": {"matchLabels": template["metadata"]["labels"]}} in rule["from"]
    assert dump["image"] == of_kind(objects, "StatefulSet").body["spec"]["template"]["spec"]["containers"][0]["image"]
    assert upload["args"] == ["copy", "/dumps", ":s3:dumps/slurm/acme-train"]
    values = {item["name"]: item.get("value") or item["valueFrom"]["secretKeyRef"] for item in upload["env"]}
    assert values["RCLONE_S3_ENDPOINT"] == "https://objects.example"
    assert values["RCLONE_S3_ACCESS_KEY_ID"] == {"name": "dump-keys", "key": "AWS_ACCESS_KEY_ID"}
    assert values["RCLONE_S3_SECRET_ACCESS_KEY"] == {"name": "dump-keys", "key": "AWS_SECRET_ACCESS_KEY"}


def with_bucket(laptop: Environment, **store: Any) -> Environment:
    """Return the laptop with a bucket for dumps, whose keys are also in another namespace."""
    [acme, *others] = laptop.tenants
    access = {"cluster": "acme-train", "namespaces": ["default", "slurm-cluster"], "rights": "write"}
    bucket = {"name": "records", "store": "objects", "quota": "1Ti", "access": [access]}
    found = {"name": "objects", "endpoint": "https://objects.cloud.example", "region": "laptop", **store}
    region = changed(laptop.region, object_stores=(ObjectStoreSpec.model_validate(found),))
    tenants = (changed(acme, buckets=(BucketSpec.model_validate(bucket),)), *others)
    return changed(laptop, region=region, tenants=tenants)


def upload_to_records(laptop: Environment, **store: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the pod that copies dumps to a bucket of the tenant, and the variables of its container."""
    backup = {"schedule": "30 1 * * *", "bucket": "records"}
    job = of_kind(rendered(with_bucket(laptop, **store), server={**SERVER, "backup": backup}), "CronJob")
    pod = job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [upload] = pod["containers"]
    assert upload["args"] == ["copy", "/dumps", ":s3:acme-records/slurm/acme-train"]
    return pod, {item["name"]: item.get("value") or item["valueFrom"]["secretKeyRef"] for item in upload["env"]}


def test_dumps_are_copied_to_a_bucket_of_the_tenant_with_its_keys(laptop: Environment) -> None:
    pod, values = upload_to_records(laptop)

    assert values == {
        "RCLONE_S3_PROVIDER": "Other",
        "RCLONE_S3_ENDPOINT": "https://objects.cloud.example",
        "RCLONE_S3_NO_CHECK_BUCKET": "true",
        "RCLONE_S3_ACCESS_KEY_ID": {"name": "bucket-records", "key": "AWS_ACCESS_KEY_ID"},
        "RCLONE_S3_SECRET_ACCESS_KEY": {"name": "bucket-records", "key": "AWS_SECRET_ACCESS_KEY"},
        "RCLONE_S3_REGION": "laptop",
        "RCLONE_S3_FORCE_PATH_STYLE": "true",
    }
    assert pod["volumes"] == [{"name": "dumps", "emptyDir": {}}]


def test_dumps_reach_a_store_with_a_private_authority_and_names_of_buckets_in_its_name(laptop: Environment) -> None:
    pod, values = upload_to_records(laptop, private_authority=True, addressing="virtual")

    secret = {"secretName": "bucket-records", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    assert {"name": "authority", "secret": secret} in pod["volumes"]
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    assert values["RCLONE_CA_CERT"] == f"{mounts['authority']}/ca.crt"
    assert values["RCLONE_S3_FORCE_PATH_STYLE"] == "false"


def test_the_bucket_of_dumps_is_in_slurms_namespace_once_that_exists(laptop: Environment) -> None:
    environment = with_bucket(laptop)
    names = [(item.kind, item.name) for item in rendered(environment)]
    [others] = buckets_of(environment, placed_slurm(environment))

    assert names.index(("Namespace", "slurm-cluster")) < names.index(("ConfigMap", "bucket-records"))
    assert [item.namespace for item in objects_of(others)] == ["default"]


def test_without_a_backup_only_slurmdbd_reaches_the_server(laptop: Environment) -> None:
    objects = rendered(laptop)
    [rule] = of_kind(objects, "NetworkPolicy").body["spec"]["ingress"]
    labels = {"app.kubernetes.io/name": "slurmdbd", "app.kubernetes.io/instance": "slurm"}

    assert rule["from"] == [{"podSelector": {"matchLabels": labels}}]
    assert not [item for item in objects if item.name == "slurm-database-backup"]


def test_the_pod_is_accepted_by_the_restricted_level(laptop: Environment) -> None:
    pod = of_kind(rendered(laptop), "StatefulSet").body["spec"]["template"]["spec"]

    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["initContainers"], *pod["containers"]):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"]
        assert context["capabilities"] == {"drop": ["ALL"]}
    assert {name for volume in pod["volumes"] for name in volume} == {
        "name",
        "persistentVolumeClaim",
        "configMap",
        "emptyDir",
    }


@pytest.mark.parametrize(("memory", "cache", "log"), [("8Gi", 4096, 1024), ("2Gi", 1024, 256), ("3Gi", 1536, 384)])
def test_half_of_the_memory_caches_tables(laptop: Environment, memory: str, cache: int, log: int) -> None:
    files = of_kind(rendered(laptop, server={**SERVER, "memory": memory}), "ConfigMap").body["data"]

    lines = files["my.cnf"].splitlines()
    assert f"innodb_buffer_pool_size={cache}M" in lines
    assert f"innodb_log_file_size={log}M" in lines


def test_other_settings_restart_the_server(laptop: Environment) -> None:
    larger = {**SERVER, "memory": "16Gi"}

    assert ("apps/StatefulSet", Effect.RESTARTED) in effects(laptop, server=larger)
    first, second = (of_kind(rendered(laptop, server=server), "ConfigMap") for server in (SERVER, larger))
    assert first.name != second.name, "a running pod would not read other files of the same name"


def test_a_larger_volume_grows_and_another_class_is_rejected(laptop: Environment) -> None:
    larger = effects(laptop, server={**SERVER, "size": "40Gi"})
    other = effects(laptop, server={**SERVER, "storage_class": "shared-vast"})

    assert larger == {("PersistentVolumeClaim", Effect.IN_PLACE)}
    assert other == {("PersistentVolumeClaim", Effect.REFUSED)}


def test_an_existing_database_instead_of_the_server_deletes_it_with_confirmation_only(laptop: Environment) -> None:
    found = tuple(changes(rendered(laptop), rendered(laptop, server=None, endpoint="mysql.example:3306")))

    assert [change.effect for change in found if change.kind == "PersistentVolumeClaim"] == [Effect.NONE]
    [change] = [change for change in found if change.kind == "apps/StatefulSet"]
    assert change.effect is Effect.DELETED
    assert change.row is not None
    assert change.row.guarded
