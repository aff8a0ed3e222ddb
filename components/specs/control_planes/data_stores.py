"""Data stores of hosted control planes: etcds that the library makes, or that somebody else has made."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, CronSchedule, DnsLabel, Endpoint, HttpsUrl, Misfit, Quantity, Spec

DPU_STORE = "default"
"""Data store of the control planes of DPUs, which DPF asks Kamaji for by this name
(doca-platform:internal/clustermanager/kamaji/handler.go)."""
_SIZE = "100Gi"
_ELSEWHERE = "whoever made the etcd decides it; remove it, or endpoints and secret to have one made"


class BackupSpec(Spec):
    """Snapshots of a data store. How long they are kept is a rule of the bucket."""

    schedule: CronSchedule
    """When snapshots are taken, in UTC."""
    endpoint: HttpsUrl
    """URL of a store that speaks S3."""
    bucket: DnsLabel
    """Bucket of the snapshots; those of a cluster are below its name, those of a shared data store below
    ``data-stores/`` and its name."""
    secret: DnsLabel
    """Secret with ``access_key_id`` and ``secret_access_key``, in the namespace of each cluster's name and, for shared
    data stores, in ``data-stores``."""


class EtcdSpec(Spec):
    """An etcd that the library makes, and keeps small and saved."""

    members: int = Field(default=3, ge=1, le=9)
    """Number of etcd members. It is odd, since an even one survives no more failures than the odd one below it."""
    defragmentation: CronSchedule = "17 3 * * *"
    """When members that hold much free space give it back, one after the other, in UTC."""


class DedicatedDataStoreSpec(EtcdSpec):
    """The etcd that a cluster gets for itself when it says ``control_plane.data_store: dedicated``."""

    size: Quantity = _SIZE
    """Size of the volume of one member, such as ``100Gi``."""
    storage_class: DnsLabel
    """Storage class of the management cluster, not of tenants."""
    backup: BackupSpec | None = None
    """Where snapshots go and when they are taken; none are taken when it is left out."""


class DataStoreSpec(EtcdSpec, CheckedSpec):
    """An etcd that several hosted control planes share.

    The library makes it, unless ``endpoints`` and ``secret`` name one that is there.
    """

    name: DnsLabel
    """Name of the data store, which ``control_plane.data_store`` of clusters refers to. DPF keeps the control planes of
    its DPUs in the one called ``default``, and no cluster of a tenant is in it."""
    endpoints: tuple[Endpoint, ...] = ()
    """Addresses of the members of an etcd that somebody else made, as ``host:port``, without a scheme (Kamaji's
    rule)."""
    secret: DnsLabel | None = None
    """Secret in the ``kamaji-system`` namespace with ca.crt, ca.key, tls.crt, tls.key of an etcd that somebody else
    made. It is a reference, never a value."""
    size: Quantity | None = None
    """Size of the volume of one member; that of ``dedicated``, or 100Gi, when it is left out."""
    storage_class: DnsLabel | None = None
    """Storage class of the management cluster; that of ``dedicated`` when it is left out."""
    backup: BackupSpec | None = None
    """Where snapshots go and when they are taken; as for ``dedicated`` when it is left out."""
    max_clusters: int = Field(ge=1, le=200)
    """Most hosted control planes that may keep their state here."""
    max_nodes: int = Field(default=5000, ge=1, le=50000)
    """Most nodes of all these clusters together, which members are sized for."""

    @property
    def given(self) -> bool:
        """Tell whether somebody else made it."""
        return bool(self.endpoints)

    def made_like(self, dedicated: DedicatedDataStoreSpec | None) -> DedicatedDataStoreSpec:
        """Return how it is made: as it says itself, and otherwise like ``dedicated``."""
        own = self.model_dump(include={"size", "storage_class"}, exclude_none=True)
        other = dedicated.model_dump(include={"size", "storage_class"}) if dedicated else {}
        backup = self.backup or (dedicated.backup if dedicated else None)
        return DedicatedDataStoreSpec(
            members=self.members, defragmentation=self.defragmentation, backup=backup, **{**other, **own}
        )

    def misfits(self) -> Iterator[Misfit]:
        """Yield half of what names an etcd that is there, and what only one that is made can have."""
        there = {"endpoints": self.endpoints, "secret": self.secret}
        missing = [key for key, value in there.items() if not value]
        if len(missing) == 1:
            [other] = there.keys() - missing
            text = f"is required beside {other}, for an etcd that somebody else made; add it, or remove {other}"
            yield Misfit(f"{text} to have one made", (missing[0],))
        for key in ("size", "storage_class", "backup", "defragmentation") if self.given else ():
            if key in self.model_fields_set:
                yield Misfit(f"has no meaning beside endpoints: {_ELSEWHERE}", (key,))
