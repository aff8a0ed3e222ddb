"""Bucket access for workloads of a tenant cluster: one ConfigMap per bucket, next to the Secret with the keys.

Buckets and keys are not created here; ``seaweedfs`` renders those of stores with an operator. The ConfigMap has the
keys of object bucket claims (lib-bucket-provisioner:pkg/provisioner/resourcehandlers.go, also used by Rook and NooBaa),
so that charts for such claims accept it, and the variables that S3 SDKs read.
"""

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.storage.buckets import BucketSpec, ObjectStoreSpec, Rights
from components.specs.struct import Struct


class OfferedBucket(Struct):
    """A bucket, and the access of one cluster to it."""

    spec: BucketSpec
    store: ObjectStoreSpec
    rights: Rights
    namespaces: tuple[str, ...]
    """Namespaces whose pods get the keys."""
    bucket: str
    """Name of the bucket in the store."""
    networks: tuple[str, ...]
    """Client networks of the store."""


class BucketsInput(Struct):
    """Buckets for which workloads of one cluster get keys."""

    name: str
    cluster: str
    offered: tuple[OfferedBucket, ...]

    def render(self) -> tuple[Manifest, ...]:
        """Return one ConfigMap per bucket and namespace."""
        return tuple(
            _config_map(self.cluster, bucket, namespace) for bucket in self.offered for namespace in bucket.namespaces
        )


def _config_map(cluster: str, offered: OfferedBucket, namespace: str) -> Manifest:
    store, name = offered.store, offered.spec.found_as
    provisioned = store.seaweedfs is not None  # the store needs no administrator, so nothing becomes a prerequisite
    return manifest(
        "v1",
        "ConfigMap",
        name,
        namespace=namespace,
        cluster=cluster,
        annotations={
            **({} if provisioned else {keys.BUCKET_TERMS: _terms(offered.spec)}),
            **({} if provisioned else {keys.BUCKET_RIGHTS: f"{offered.rights} for {cluster}"}),
            keys.BUCKET_LOGIN: name,
            **given(**{keys.BUCKET_AUTHORITY: name if store.private_authority else None}),
            **({} if provisioned else {keys.CLIENT_NETWORKS: ",".join(offered.networks)}),
        },
        data={
            "BUCKET_HOST": store.host,
            "BUCKET_PORT": str(store.port),
            "BUCKET_NAME": offered.bucket,
            "BUCKET_REGION": store.region,
            "BUCKET_ADDRESSING": store.addressing.value,
            "AWS_ENDPOINT_URL_S3": store.endpoint,
            "AWS_REGION": store.region,
        },
    )


def _terms(spec: BucketSpec) -> str:
    """Return the settings of the bucket that the store must enforce, as text."""
    lock, lifecycle = spec.object_lock, spec.lifecycle
    expiry = {
        "objects": lifecycle and lifecycle.expire_days,
        "old versions": lifecycle and lifecycle.old_versions_days,
        "abandoned uploads": lifecycle and lifecycle.abandoned_uploads_days,
    }
    return ", ".join(
        (
            f"at most {spec.quota}",
            "versioned" if spec.versioning else "without versions",
            *((f"versions locked for {lock.days}d by {lock.mode}",) if lock else ()),
            *(f"{what} go after {days}d" for what, days in expiry.items() if days),
        )
    )
