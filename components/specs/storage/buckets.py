"""Object stores of a region and the buckets of tenants. An administrator or an operator of the store creates them."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from components.specs.base import (
    ENDPOINT,
    SERVER,
    CheckedSpec,
    ClusterName,
    ConstraintViolation,
    DnsLabel,
    Label,
    Quantity,
    ShortName,
    Spec,
)

BUCKET_NAME = r"^[a-z0-9][-a-z0-9]{1,61}[a-z0-9]$"
STORE_URL = rf"^https://([a-z0-9]([-.a-z0-9]*[a-z0-9])?|{ENDPOINT[1:-1]})$"
_HTTPS_PORT = 443
_MAX_DAYS = 36_500
StoreUrl = Annotated[str, StringConstraints(pattern=STORE_URL, max_length=253), SERVER]
"""URL of a host with an optional port, without a path."""
BucketName = Annotated[str, StringConstraints(pattern=BUCKET_NAME)]
"""Bucket name by S3's rules, without dots, because a certificate for ``*.host`` does not cover names with dots."""


class Addressing(StrEnum):
    """Location of the bucket name in requests."""

    PATH = "path"
    """The bucket is the first part of the path: ``https://host/bucket/object``."""
    VIRTUAL = "virtual"
    """The bucket is part of the host name: ``https://bucket.host/object``. The store needs a DNS name for each
    bucket."""


class SeaweedSpec(Spec):
    """SeaweedFS cluster of the management cluster, run by SeaweedFS's operator."""

    name: DnsLabel
    """Name of the ``Seaweed`` object, of one object store of the region only."""
    namespace: DnsLabel
    """Namespace of the ``Seaweed`` object. A ``ResourceReferenceGrant`` there permits references from namespaces of
    Jacquard."""


class ObjectStoreSpec(CheckedSpec):
    """S3-compatible store. Jacquard does not log in to it."""

    name: DnsLabel
    """Name of the store, referenced by buckets of tenants."""
    endpoint: StoreUrl
    """URL of the store, such as ``https://objects.cloud.example``, with a port if it is not 443. Pods of tenants must
    be able to reach it."""
    region: Label = "us-east-1"
    """Region name for the signature of requests, as the store expects it. Most stores other than Amazon's use the
    default of S3."""
    addressing: Addressing = Addressing.PATH
    """Location of the bucket name in requests."""
    private_authority: bool = False
    """Whether the store's certificate is signed by a private authority. Each Secret with keys then also contains the
    authority as ``ca.crt``."""
    seaweedfs: SeaweedSpec | None = None
    """SeaweedFS cluster behind the endpoint: its operator creates the buckets, users and keys of tenants. By default,
    the store's administrator creates them."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a private authority of a store whose operator creates the Secrets with keys."""
        if self.seaweedfs and self.private_authority:
            text = (
                "is true, but SeaweedFS's operator writes no ca.crt next to its keys; use a certificate of a public"
                " authority and remove private_authority, or remove seaweedfs"
            )
            yield ConstraintViolation(text, ("private_authority",))

    @property
    def host(self) -> str:
        """Return the name or address of the store."""
        return urlsplit(self.endpoint).hostname or ""

    @property
    def port(self) -> int:
        """Return the port of the store."""
        return urlsplit(self.endpoint).port or _HTTPS_PORT


class LockMode(StrEnum):
    """Retention mode of locked objects, in S3's terms."""

    GOVERNANCE = "governance"
    """Keys with a special permission can remove the lock. Keys delivered by Jacquard do not have it."""
    COMPLIANCE = "compliance"
    """The lock cannot be removed before its end, not even by the operator of the store."""


class ObjectLockSpec(Spec):
    """Retention period in which versions of objects cannot be deleted or overwritten."""

    mode: LockMode = LockMode.GOVERNANCE
    """Retention mode of locked objects."""
    days: int = Field(ge=1, le=_MAX_DAYS)
    """Retention period in days from the creation of a version, for versions without a period of their own."""


class LifecycleSpec(CheckedSpec):
    """Automatic deletion by the store."""

    expire_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which objects are deleted; by default objects are kept until they are deleted explicitly."""
    old_versions_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which replaced versions of objects are deleted; by default they are kept."""
    abandoned_uploads_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which parts of unfinished uploads are deleted; by default they are kept and count against the
    quota."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a lifecycle without any setting."""
        if not any((self.expire_days, self.old_versions_days, self.abandoned_uploads_days)):
            text = (
                "is missing, and so are the other two settings, so nothing is ever deleted; write 90, or remove"
                " lifecycle"
            )
            yield ConstraintViolation(text, ("expire_days",))


ALWAYS_THERE = "default"
"""Namespace that exists in every cluster."""


class Rights(StrEnum):
    """Permissions of a bucket's keys."""

    READ = "read"
    """Keys can list and read objects."""
    WRITE = "write"
    """Keys can list and write objects, but not read or delete them. This is for backups that their writer cannot
    delete."""
    READ_WRITE = "read-write"
    """Keys can list, read, write and delete objects. The bucket's own settings cannot be changed."""


class BucketAccessSpec(Spec):
    """Cluster whose workloads get their own keys of a bucket."""

    cluster: ClusterName
    """Cluster of the tenant."""
    namespaces: tuple[Label, ...] = Field(min_length=1, max_length=20)
    """Namespaces of the cluster that get the keys. They are created, and they are kept when they are removed from the
    data."""
    rights: Rights = Rights.READ_WRITE
    """Permissions of the keys."""


class BucketSpec(CheckedSpec):
    """Bucket of a tenant. Removing it from the data removes the access, never the content."""

    name: ShortName
    """Name of the bucket for the tenant. Workloads find it in the ConfigMap and Secret ``bucket-<name>``."""
    store: DnsLabel
    """Object store of ``region.yaml`` that contains the bucket."""
    bucket: BucketName | None = None
    """Name in the store, unique there; ``<tenant>-<name>`` by default."""
    quota: Quantity
    """Maximum size of the bucket, such as ``200Ti``."""
    versioning: bool = False
    """Whether the store keeps replaced and deleted versions of objects."""
    object_lock: ObjectLockSpec | None = None
    """Retention period in which versions cannot be deleted; by default there is no lock. Many stores support it for new
    buckets only."""
    lifecycle: LifecycleSpec | None = None
    """Automatic deletion by the store; none by default."""
    access: tuple[BucketAccessSpec, ...] = ()
    """Clusters whose workloads get keys, each listed once; none by default."""

    @property
    def found_as(self) -> str:
        """Return the name of the ConfigMap and Secret in which workloads find the bucket."""
        return f"bucket-{self.name}"

    def name_in_store(self, tenant: str) -> str:
        """Return the name of the bucket of ``tenant`` in the store."""
        return self.bucket or f"{tenant}-{self.name}"

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a lock or version settings without versioning, and deletion before the end of a lock."""
        ends = self.lifecycle.old_versions_days if self.lifecycle else None
        if self.object_lock and not self.versioning:
            yield ConstraintViolation(
                "needs versions, but the bucket keeps none; write versioning: true", ("object_lock",)
            )
        elif ends and not self.versioning:
            text = (
                "deletes old versions, but the bucket keeps none; write versioning: true, or remove old_versions_days"
            )
            yield ConstraintViolation(text, ("lifecycle",))
        elif ends and self.object_lock and ends < self.object_lock.days:
            text = f"is less than object_lock.days ({self.object_lock.days}); write at least {self.object_lock.days}"
            yield ConstraintViolation(text, ("lifecycle", "old_versions_days"), ends)
