"""SeaweedFS's operator in the local region: prerequisites, and created Secrets."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import object_stores as operator
from jacquard.lab.rehearsal.operators.view import reported
from tests.support.objects.live_objects import obj
from tests.support.storage.seaweed_example import SEAWEED, laptop, rendered

STORE = obj(operator.API, "Seaweed", SEAWEED["name"], {}, SEAWEED["namespace"])
KINDS = ("Bucket", "BucketLifecyclePolicy", "S3Identity", "S3Credentials")


def settled(view: Any) -> Any:
    for _ in range(3):
        operator.reconcile(view)
    return view


def bodies(*without: str) -> list[dict[str, Any]]:
    return [dict(item.body) for item in rendered(laptop()) if item.kind not in without]


def reason(view: Any, kind: str, name: str, namespace: str) -> str:
    [ready] = view.get(kind, name, namespace)["status"]["conditions"]
    return str(ready["reason"])


def test_with_a_store_all_objects_are_ready_and_keys_are_in_their_secrets(objects: Any) -> None:
    view = settled(objects(STORE, *bodies()))

    assert [
        item["metadata"] for kind in KINDS for item in view.all(operator.API, kind) if not reported(item, "Ready")
    ] == []
    for cluster in ("acme-train", "globex-lab"):
        data = view.get("Secret", "bucket.runs", cluster)["data"]
        assert data.keys() == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


@pytest.mark.parametrize(
    ("given", "kind", "namespace", "expected"),
    [
        (bodies(), "Bucket", "tenant-acme", "ClusterRefNotFound"),
        (bodies(), "BucketLifecyclePolicy", "tenant-acme", "BucketNotReady"),
        (bodies(), "S3Identity", "acme-train", "ClusterRefNotFound"),
        ([STORE, *bodies("S3Identity")], "S3Credentials", "acme-train", "IdentityMissing"),
    ],
    ids=["bucket", "life cycle", "user", "keys"],
)
def test_objects_without_their_store_or_user_are_not_ready(
    objects: Any, given: list[Any], kind: str, namespace: str, expected: str
) -> None:
    view = settled(objects(*given))

    assert reason(view, kind, "bucket-runs", namespace) == expected
    assert [item for item in view.all("v1", "Secret") if item["metadata"]["name"] == "bucket.runs"] == []


def test_a_status_is_written_once(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view = settled(objects(STORE, *bodies()))
    monkeypatch.delattr(type(view), "status")

    settled(view)
