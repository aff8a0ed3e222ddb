"""Buckets that a store's operator creates: objects, names, and the delivery of keys to clusters."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.buckets import of_cluster
from components.inputs.deliveries import deliveries
from components.lookups.pools import clusters
from components.render.manifest import Manifest
from components.render.region.external_secrets import external_secrets
from components.reports.prerequisites import prerequisites
from components.specs.environment import Environment
from tests.support.storage.seaweed_example import SEAWEED, laptop, rendered


def specs_of(environment: Environment) -> dict[tuple[str, str | None, str], Any]:
    """Return specs by kind, namespace and name."""
    return {(item.kind, item.namespace, item.name): item.body["spec"] for item in rendered(environment)}


def of_workloads(environment: Environment) -> list[Manifest]:
    return [
        item for placed in clusters(environment) for one in of_cluster(environment, placed) for item in one.render()
    ]


def test_a_bucket_has_its_name_quota_versions_and_the_rights_of_users() -> None:
    assert specs_of(laptop())["Bucket", "tenant-globex", "bucket-runs"] == {
        "name": "globex-runs",
        "clusterRef": SEAWEED,
        "reclaimPolicy": "Retain",
        "adoptExisting": False,
        "versioning": "Enabled",
        "quota": {"size": "8Mi", "enforce": True},
        "access": [{"user": "globex-lab.runs", "actions": ["List", "Read", "Write"]}],
    }


def test_a_bucket_without_access_has_no_users_and_no_life_cycle() -> None:
    specs = specs_of(laptop())

    assert specs["Bucket", "tenant-acme", "bucket-plain"] == {
        "name": "acme-train-plain",
        "clusterRef": SEAWEED,
        "reclaimPolicy": "Retain",
        "adoptExisting": False,
        "versioning": "Off",
        "quota": {"size": "2Gi", "enforce": True},
    }
    assert {(kind, name) for kind, _, name in specs if name == "bucket-plain"} == {("Bucket", "bucket-plain")}


def test_keys_that_read_have_no_action_that_writes() -> None:
    [grant] = specs_of(laptop("read"))["Bucket", "tenant-acme", "bucket-runs"]["access"]

    assert grant == {"user": "acme-train.runs", "actions": ["List", "Read"]}


def test_a_life_cycle_is_one_rule_with_an_action_for_each_age() -> None:
    assert specs_of(laptop())["BucketLifecyclePolicy", "tenant-acme", "bucket-runs"] == {
        "bucketRef": {"name": "bucket-runs"},
        "rules": [
            {
                "id": "jacquard",
                "status": "Enabled",
                "expiration": {"days": 30},
                "noncurrentVersionExpiration": {"noncurrentDays": 9},
                "abortIncompleteMultipartUpload": {"daysAfterInitiation": 2},
            }
        ],
    }


def test_each_cluster_has_a_user_and_keys_in_its_own_namespace() -> None:
    specs = specs_of(laptop())

    for cluster in ("acme-train", "globex-lab"):
        assert specs["S3Identity", cluster, "bucket-runs"] == {"seaweedRef": SEAWEED, "name": f"{cluster}.runs"}
        assert specs["S3Credentials", cluster, "bucket-runs"] == {
            "seaweedRef": SEAWEED,
            "identityRef": {"name": "bucket-runs"},
            "secretRef": {
                "name": "bucket.runs",
                "accessKeyField": "AWS_ACCESS_KEY_ID",
                "secretKeyField": "AWS_SECRET_ACCESS_KEY",
            },
        }


def test_generated_keys_are_pushed_into_each_namespace_and_copied_from_no_entry() -> None:
    environment = laptop()
    items = list(external_secrets("vault", deliveries(environment, of_workloads(environment))))

    assert {item.kind for item in items} == {"SecretStore", "PushSecret"}
    pushed = {
        (item.namespace, item.body["spec"]["secretStoreRefs"][0]["name"]): item.body["spec"]["selector"]["secret"]
        for item in items
        if item.kind == "PushSecret"
    }
    assert pushed == {
        (cluster, namespace): {"name": "bucket.runs"}
        for cluster in ("acme-train", "globex-lab")
        for namespace in ("lab", "default")
    }


@pytest.mark.parametrize(
    ("seaweedfs", "listed"),
    [(True, {"seaweed-cluster"}), (False, {"tenant-bucket", "bucket-identity"})],
    ids=["operator", "administrator"],
)
def test_only_the_store_is_a_prerequisite_if_its_operator_creates_buckets(
    seaweedfs: bool,  # noqa: FBT001 - a value of the data
    listed: set[str],
) -> None:
    forms = {form.name: form for form in prerequisites(laptop(seaweedfs=seaweedfs)).forms}

    assert forms.keys() & {"seaweed-cluster", "tenant-bucket", "bucket-identity"} == listed
    entries = {item.name for item in forms["store-entry"].items}
    assert any(name.endswith("/bucket-runs") for name in entries) is not seaweedfs
