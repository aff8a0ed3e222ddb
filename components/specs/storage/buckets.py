"""Object stores of a region, and the buckets that tenants have in them: made by whoever runs the store."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from components.specs.base import ENDPOINT, CheckedSpec, ClusterName, DnsLabel, Label, Misfit, Quantity, ShortName, Spec

BUCKET_NAME = r"^[a-z0-9][-a-z0-9]{1,61}[a-z0-9]$"
STORE_URL = rf"^https://([a-z0-9]([-.a-z0-9]*[a-z0-9])?|{ENDPOINT[1:-1]})$"
_HTTPS_PORT = 443
_MAX_DAYS = 36_500
StoreUrl = Annotated[str, StringConstraints(pattern=STORE_URL, max_length=253)]
"""URL of a host and a port, with nothing behind."""
BucketName = Annotated[str, StringConstraints(pattern=BUCKET_NAME)]
"""Name of a bucket by S3's rules, without dots, since a certificate for ``*.host`` covers none."""


class Addressing(StrEnum):
    """Where a request says which bucket it means."""

    PATH = "path"
    """The bucket is the first part of the path: ``https://host/bucket/object``."""
    VIRTUAL = "virtual"
    """The bucket is in front of the host: ``https://bucket.host/object``. The store has a name for each bucket."""


class ObjectStoreSpec(Spec):
    """A store that speaks S3. Nothing here logs in to it: whoever runs it makes buckets and keys."""

    name: DnsLabel
    """Name of the store, which buckets of tenants refer to."""
    endpoint: StoreUrl
    """URL of the store, ``https://objects.cloud.example``, with a port where it is not 443. Pods of tenants reach
    it."""
    region: Label = "us-east-1"
    """Region that requests are signed for, as the store expects it; most stores that are not Amazon's take S3's
    own default."""
    addressing: Addressing = Addressing.PATH
    """Where a request says which bucket it means."""
    private_authority: bool = False
    """Whether no public authority signed the store's certificate. Each Secret with keys then has the authority, too, as
    ``ca.crt``."""

    @property
    def host(self) -> str:
        """Return name or address of the store."""
        return urlsplit(self.endpoint).hostname or ""

    @property
    def port(self) -> int:
        """Return the port of the store."""
        return urlsplit(self.endpoint).port or _HTTPS_PORT


class LockMode(StrEnum):
    """Who may end the lock of an object before its time, in S3's words."""

    GOVERNANCE = "governance"
    """Keys with a right of their own may, which none that is delivered here has."""
    COMPLIANCE = "compliance"
    """Nobody may, not even whoever runs the store."""


class ObjectLockSpec(Spec):
    """Time in which no version of an object can be deleted or written over."""

    mode: LockMode = LockMode.GOVERNANCE
    """Who may end the lock of an object before its time."""
    days: int = Field(ge=1, le=_MAX_DAYS)
    """Days from when a version is written, for those written without a time of their own."""


class LifecycleSpec(CheckedSpec):
    """What the store deletes by itself."""

    expire_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which an object goes; objects stay until somebody deletes them when it is left out."""
    old_versions_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which a version goes that another took the place of; versions stay when it is left out."""
    abandoned_uploads_days: int | None = Field(default=None, ge=1, le=_MAX_DAYS)
    """Days after which parts of an upload go that nobody finished; they stay, and count, when it is left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a life cycle in which nothing ever ends."""
        if not any((self.expire_days, self.old_versions_days, self.abandoned_uploads_days)):
            text = "is missing, and so are the other two, so that nothing ever goes; write 90, or remove lifecycle"
            yield Misfit(text, ("expire_days",))


class Rights(StrEnum):
    """What keys of a bucket are good for."""

    READ = "read"
    """Objects are listed and read."""
    WRITE = "write"
    """Objects are listed and written, and none is read or deleted: for copies that who makes them cannot take back."""
    READ_WRITE = "read-write"
    """Objects are listed, read, written and deleted. The bucket's own settings stay closed."""


class BucketAccessSpec(Spec):
    """A cluster whose workloads get keys of a bucket, of its own."""

    cluster: ClusterName
    """Cluster of the tenant."""
    namespaces: tuple[Label, ...] = Field(min_length=1, max_length=20)
    """Namespaces of the cluster that get the keys. They are made, and stay when they leave the data."""
    rights: Rights = Rights.READ_WRITE
    """What the keys are good for."""


class BucketSpec(CheckedSpec):
    """A bucket of the tenant's. Leaving the data takes away how it is reached, never what is in it."""

    name: ShortName
    """Name of the bucket for the tenant: its workloads find it in ConfigMap and Secret ``bucket-<name>``."""
    store: DnsLabel
    """Object store of ``region.yaml`` that has the bucket."""
    bucket: BucketName | None = None
    """Name in the store, where no other bucket has it; ``<tenant>-<name>`` when it is left out."""
    quota: Quantity
    """Most bytes that the store takes for the bucket, such as ``200Ti``."""
    versioning: bool = False
    """Whether the store keeps a version that another took the place of, or that was deleted."""
    object_lock: ObjectLockSpec | None = None
    """Time in which no version can be deleted; many stores take it only for a new bucket. None is locked when it is
    left out."""
    lifecycle: LifecycleSpec | None = None
    """What the store deletes by itself; nothing when it is left out."""
    access: tuple[BucketAccessSpec, ...] = ()
    """Clusters whose workloads get keys, each once; none does when it is left out."""

    @property
    def found_as(self) -> str:
        """Return the name of the ConfigMap and of the Secret by which workloads find it."""
        return f"bucket-{self.name}"

    def name_in_store(self, tenant: str) -> str:
        """Return what the store calls the bucket of ``tenant``."""
        return self.bucket or f"{tenant}-{self.name}"

    def misfits(self) -> Iterator[Misfit]:
        """Yield a lock without versions, versions that end and are not kept, and an end before a lock's."""
        ends = self.lifecycle.old_versions_days if self.lifecycle else None
        if self.object_lock and not self.versioning:
            yield Misfit("locks versions, and the bucket keeps none; write versioning: true", ("object_lock",))
        if ends and not self.versioning:
            text = "ends old versions, and the bucket keeps none; write versioning: true, or remove old_versions_days"
            yield Misfit(text, ("lifecycle",))
        elif ends and self.object_lock and ends < self.object_lock.days:
            text = f"ends before object_lock.days ({self.object_lock.days}); write at least {self.object_lock.days}"
            yield Misfit(text, ("lifecycle", "old_versions_days"), ends)
