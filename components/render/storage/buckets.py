"""How workloads of a tenant's cluster find their buckets: one ConfigMap each, beside the Secret with the keys.

Nothing here makes a bucket or a key. The names in the ConfigMap are those of object bucket claims
(lib-bucket-provisioner:pkg/provisioner/resourcehandlers.go, which Rook and NooBaa follow), so that charts that take one
of these take ours, and those that SDKs of S3 read.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.storage.buckets import BucketAccessSpec, BucketSpec, ObjectStoreSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedBucket:
    """A bucket, and what one cluster gets of it."""

    spec: BucketSpec
    store: ObjectStoreSpec
    access: BucketAccessSpec
    bucket: str
    """Name in the store."""
    networks: tuple[str, ...]
    """Networks from which the store is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketsInput:
    """The buckets that workloads of one cluster get keys of."""

    name: str
    cluster: str
    offered: tuple[OfferedBucket, ...]

    def render(self) -> tuple[Manifest, ...]:
        """Return what the workloads find, by bucket and namespace."""
        return tuple(_found(self.cluster, one, where) for one in self.offered for where in one.access.namespaces)


def _found(cluster: str, one: OfferedBucket, where: str) -> Manifest:
    store, name = one.store, one.spec.found_as
    return manifest(
        "v1",
        "ConfigMap",
        name,
        namespace=where,
        cluster=cluster,
        annotations={
            keys.BUCKET_TERMS: _terms(one.spec),
            keys.BUCKET_RIGHTS: f"{one.access.rights} for {cluster}",
            keys.BUCKET_LOGIN: name,
            **given(**{keys.BUCKET_AUTHORITY: name if store.private_authority else None}),
            keys.CLIENT_NETWORKS: ",".join(one.networks),
        },
        data={
            "BUCKET_HOST": store.host,
            "BUCKET_PORT": str(store.port),
            "BUCKET_NAME": one.bucket,
            "BUCKET_REGION": store.region,
            "BUCKET_ADDRESSING": store.addressing.value,
            "AWS_ENDPOINT_URL_S3": store.endpoint,
            "AWS_REGION": store.region,
        },
    )


def _terms(spec: BucketSpec) -> str:
    """Return what the store is to hold the bucket to."""
    lock, ends = spec.object_lock, spec.lifecycle
    ending = {
        "objects": ends and ends.expire_days,
        "old versions": ends and ends.old_versions_days,
        "abandoned uploads": ends and ends.abandoned_uploads_days,
    }
    return ", ".join(
        (
            f"at most {spec.quota}",
            "versioned" if spec.versioning else "without versions",
            *((f"versions locked for {lock.days}d by {lock.mode}",) if lock else ()),
            *(f"{what} go after {days}d" for what, days in ending.items() if days),
        )
    )
