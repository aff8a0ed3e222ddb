"""Buckets, users and keys of a tenant as objects of SeaweedFS's operator, in the management cluster.

Sources (seaweedfs/seaweedfs-operator 0.1.39, ``api/v1`` and ``internal/controller``):

- ``Bucket`` creates the bucket with quota and versions, and grants actions to users. The operator grants nothing on a
  bucket that exists and was not created by the object, unless ``adoptExisting`` is set (``bucket_controller.go``).
- A grant of ``Write`` includes deletion. ``S3Policy`` could separate the two, but a policy names a bucket without proof
  of its owner, so it would grant access to a retained bucket of another tenant.
- ``S3Identity`` creates a user without rights; ``S3Credentials`` creates its key pair and the Secret with it. A deleted
  Secret gets another key pair, and the operator revokes the previous one (``s3credentials_controller.go``).
- ``BucketLifecyclePolicy`` owns the whole life cycle of a bucket (``bucketlifecyclepolicy_controller.go``).
"""

from collections.abc import Iterator
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, ManifestSet, Readiness, Rendered
from components.render.namespaces import tenant_namespace
from components.render.objects import given, manifest
from components.specs.storage.buckets import BucketSpec, LifecycleSpec, Rights, SeaweedSpec
from components.specs.struct import Struct

API = "seaweed.seaweedfs.com/v1"
ACCESS_KEY, SECRET_KEY = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
ACTIONS = {Rights.READ: ("List", "Read"), Rights.READ_WRITE: ("List", "Read", "Write")}
"""Actions on a bucket, by rights. No combination of actions can write without the right to delete."""
_BUCKET_SECONDS = 600


class ProvisionedBucket(Struct):
    """A bucket that the operator of its store creates."""

    spec: BucketSpec
    store: SeaweedSpec
    bucket: str
    """Name of the bucket in the store."""


class ProvisionedBucketsInput(Struct):
    """Buckets of one tenant in stores with an operator."""

    name: str
    """Name of the tenant."""
    buckets: tuple[ProvisionedBucket, ...]

    def render(self) -> tuple[Rendered, ...]:
        """Return each bucket, then a set with life cycles, users and keys; none without a user or a life cycle."""
        namespace = tenant_namespace(self.name)
        further = (item for one in self.buckets for item in (*_life_cycle(namespace, one), *_users(one)))
        members = {f"{item.namespace}/{item.kind}/{item.name}": item for item in further}
        return (
            *(_bucket(namespace, one) for one in self.buckets),
            *((ManifestSet(name=f"buckets-{self.name}", namespace=namespace, members=members),) if members else ()),
        )


def secret_name(spec: BucketSpec) -> str:
    """Return the name of the Secret with the keys of one cluster, in the cluster's namespace.

    Copies of Secrets in that namespace are named ``<namespace>-<name>``, and names of namespaces contain no dots.
    """
    return f"bucket.{spec.name}"


def _bucket(namespace: str, one: ProvisionedBucket) -> Manifest:
    spec = one.spec
    return manifest(
        API,
        "Bucket",
        spec.found_as,
        namespace=namespace,
        readiness=Readiness(conditions=("condition=Ready",), timeout_seconds=_BUCKET_SECONDS),
        spec={
            "name": one.bucket,
            "clusterRef": _reference(one.store),
            "reclaimPolicy": "Retain",
            "adoptExisting": False,
            "versioning": "Enabled" if spec.versioning else "Off",
            "quota": {"size": str(spec.quota), "enforce": True},
            **given(
                access=[
                    {"user": _user(access.cluster, spec), "actions": [*ACTIONS[access.rights]]}
                    for access in spec.access
                ]
            ),
        },
    )


def _life_cycle(namespace: str, one: ProvisionedBucket) -> Iterator[Manifest]:
    if one.spec.lifecycle:
        yield manifest(
            API,
            "BucketLifecyclePolicy",
            one.spec.found_as,
            namespace=namespace,
            spec={"bucketRef": {"name": one.spec.found_as}, "rules": [_rule(one.spec.lifecycle)]},
        )


def _rule(lifecycle: LifecycleSpec) -> dict[str, Any]:
    """Return all settings as one rule: S3 permits one action of each kind in a rule."""
    ages = {
        "expiration": ("days", lifecycle.expire_days),
        "noncurrentVersionExpiration": ("noncurrentDays", lifecycle.old_versions_days),
        "abortIncompleteMultipartUpload": ("daysAfterInitiation", lifecycle.abandoned_uploads_days),
    }
    return {"id": "jacquard", "status": "Enabled", **{key: {name: days} for key, (name, days) in ages.items() if days}}


def _users(one: ProvisionedBucket) -> Iterator[Manifest]:
    """Yield the user of each cluster with access and its keys, in the cluster's namespace."""
    for access in one.spec.access:
        name, labels = one.spec.found_as, {keys.CLUSTER: access.cluster}
        store = {"seaweedRef": _reference(one.store)}
        yield manifest(
            API,
            "S3Identity",
            name,
            namespace=access.cluster,
            labels=labels,
            spec={**store, "name": _user(access.cluster, one.spec)},
        )
        yield manifest(
            API,
            "S3Credentials",
            name,
            namespace=access.cluster,
            labels=labels,
            spec={
                **store,
                "identityRef": {"name": name},
                "secretRef": {
                    "name": secret_name(one.spec),
                    "accessKeyField": ACCESS_KEY,
                    "secretKeyField": SECRET_KEY,
                },
            },
        )


def _user(cluster: str, spec: BucketSpec) -> str:
    """Return the user's name, which is unique in the store: names of clusters and buckets contain no dots."""
    return f"{cluster}.{spec.name}"


def _reference(store: SeaweedSpec) -> dict[str, str]:
    return {"name": store.name, "namespace": store.namespace}
