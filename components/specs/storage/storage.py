"""Storage classes of a region, one model per driver: an unknown parameter key would make every CreateVolume fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints

from components.specs.base import (
    ABSOLUTE_PATH,
    RELATIVE_PATH,
    Address,
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    IpAddress,
    Quantity,
    Text,
    bytes_of,
)
from components.specs.host_text import nearest_host, plain_host
from components.specs.reading.problems import listed, nearest
from components.specs.storage import mount_options
from components.specs.storage.snapshots import TreeSnapshotsSpec

CLAIM, NAMESPACE, VOLUME = "${pvc.metadata.name}", "${pvc.metadata.namespace}", "${pv.metadata.name}"
"""Placeholders that csi-driver-nfs replaces in ``subDir`` (csi-driver-nfs:docs/driver-parameters.md)."""
_PLACEHOLDERS = (CLAIM, NAMESPACE, VOLUME)
TENANT = "<tenant>"
"""Placeholder for the name of the tenant whose cluster offers a class."""
TENANT_LABEL = r"^([a-z]([-a-z0-9]*[a-z0-9])?|([a-z][-a-z0-9]*)?<tenant>([-a-z0-9]*[a-z0-9])?)$"
TENANT_HOST = r"^([a-z0-9]|<tenant>)([-a-z0-9]|<tenant>)*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$"
TenantLabel = Annotated[str, StringConstraints(pattern=TENANT_LABEL, max_length=56)]
"""DNS-1035 label that may contain `TENANT` once; names of tenants have at most 15 characters."""
TenantHost = Annotated[str, StringConstraints(pattern=TENANT_HOST, max_length=240)]
"""DNS name whose first label may contain `TENANT`."""
SPARE_GIB = 10
"""GiB of a volume group that lvmd reserves by default (topolvm/topolvm:docs/lvmd.md)."""
_GIBIBYTE = 1 << 30
_PORT = re.compile(r":([1-9][0-9]{0,4})$")
_MAX_PORT = 65535


class ReclaimPolicy(StrEnum):
    """Handling of a volume whose claim is deleted (``reclaimPolicy`` of Kubernetes)."""

    DELETE = "Delete"
    """The volume is deleted with its content."""
    RETAIN = "Retain"
    """The volume is kept until it is deleted explicitly."""


class _ClassSpec(CheckedSpec):
    name: DnsLabel
    """Name of the class, the ``storageClassName`` of claims."""
    default: bool = False
    """Whether claims without a class get this one. Exactly one class of a cluster is the default."""
    reclaim: ReclaimPolicy = ReclaimPolicy.DELETE
    """Handling of a volume whose claim is deleted."""
    mount_options: tuple[Text, ...] = ()
    """Mount options of volumes, one per entry. They are copied when a volume is created; existing volumes keep
    theirs."""

    PER_TENANT: ClassVar[tuple[str, ...]] = ()
    """Fields that may contain `TENANT`."""
    WALLS: ClassVar[tuple[str, ...]] = ()
    """Fields that isolate tenants of one storage system: no two tenants may share a value of them."""
    SHARED: ClassVar[bool] = True
    """Whether many nodes can mount a volume at the same time; otherwise its driver rejects ReadWriteMany."""
    SNAPSHOTS: ClassVar[bool] = True
    """Whether the class has a snapshot class of the same name, and its driver can clone volumes."""

    def of_tenant(self, tenant: str) -> Self:
        """Return the class with the placeholders replaced for clusters of ``tenant``."""
        texts = {key: getattr(self, key) for key in self.PER_TENANT}
        return self.model_copy(update={key: text.replace(TENANT, tenant) for key, text in texts.items() if text})

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield invalid mount options, unknown placeholders, and paths with '.' or '..'."""
        yield from mount_options.incompatibilities(self.mount_options, nfs=True)
        for key in self.PER_TENANT:
            text = getattr(self, key) or ""
            strange = [placeholder for placeholder in re.findall(r"<[^>/]*>?", text) if placeholder != TENANT]
            if strange:
                yield ConstraintViolation(
                    f"contains {strange[0]}, which is not a placeholder; write {TENANT}", (key,), text
                )
            if {".", ".."} & set(text.split("/")):
                yield ConstraintViolation("has a part that is '.' or '..'; write the resolved path", (key,), text)


class NfsClassSpec(_ClassSpec):
    """Storage class of csi-driver-nfs. Sizes are labels and not quotas: the driver does not enforce capacity."""

    driver: Literal["nfs"]
    """The driver is csi-driver-nfs."""
    server: IpAddress | Text
    """Address or name of the NFS server, ``server`` of csi-driver-nfs."""
    share: str = Field(pattern=ABSOLUTE_PATH)
    """Directory that the server exports, ``share`` of csi-driver-nfs. ``<tenant>`` in it is replaced by the tenant's
    name, so that each tenant has its own export, open to its own hosts."""
    sub_directory: str = Field(default="${pvc.metadata.namespace}/${pvc.metadata.name}", pattern=RELATIVE_PATH)
    """Directory of a volume below the cluster's own directory, which has the cluster's name; the end of ``subDir`` of
    csi-driver-nfs. It contains namespace and name of the claim, or the name of the volume, so that no two claims share
    one."""
    PER_TENANT: ClassVar[tuple[str, ...]] = ("share",)
    """Each tenant has its own export."""
    WALLS: ClassVar[tuple[str, ...]] = ("share",)
    """The export is the only isolation of tenants."""

    @property
    def system(self) -> str:
        """Return the NFS server."""
        return str(self.server)

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an invalid server, and a directory that several claims would share."""
        yield from super().incompatibilities()
        if not isinstance(self.server, Address):
            yield from _host_violations("server", self.server, port=False)
        yield from _directory_violations(self.sub_directory)


class VastClassSpec(_ClassSpec):
    """Storage class of VAST CSI. Each claim is a view with a quota, so capacity is enforced.

    ``<tenant>`` in its names is replaced by the tenant's name: each tenant has its own tenant on the VAST system.
    """

    driver: Literal["vast"]
    """The driver is VAST CSI."""
    endpoint: Text
    """Host of the management API of the VAST system, with a port if it is not 443, without a scheme and a path."""
    vip_pool: Text | None = None
    """Pool of virtual addresses on the storage network for mounts, ``vip_pool_name`` of VAST CSI. The driver looks it
    up through the management API, which an administrator of one tenant is not allowed to do."""
    vip_pool_fqdn: TenantHost | None = None
    """DNS name of such a pool in VAST's DNS, ``vip_pool_fqdn`` of VAST CSI. Nodes are distributed over its addresses,
    without a lookup through the management API. Exactly one of this field and ``vip_pool`` is required."""
    view_policy: Text
    """Policy of the views for claims, ``view_policy`` of VAST CSI. It determines the tenant of the system and the hosts
    that can mount."""
    root_export: str = Field(pattern=ABSOLUTE_PATH)
    """Path below which claims get their directories, ``root_export`` of VAST CSI."""
    qos_policy: Text | None = None
    """QoS policy of the views, ``qos_policy`` of VAST CSI; no limits by default."""
    secret: TenantLabel
    """Secret in the ``vast-csi`` namespace with username, password and endpoint. The field is a reference, never a
    value. The account must own nothing but the tenant's tree, because administrators of the cluster can read the
    Secret.

    One driver serves a cluster, so that classes with different endpoints differ in their secrets only."""
    snapshots: TreeSnapshotsSpec | None = None
    """Snapshots of ``root_export`` that the system takes by a protection policy; none by default. The operator of the
    system creates the policy."""
    PER_TENANT: ClassVar[tuple[str, ...]] = (
        "vip_pool", "vip_pool_fqdn", "view_policy", "root_export", "qos_policy", "secret",
    )  # fmt: skip
    """Names and paths of the system, which each tenant has its own of."""
    WALLS: ClassVar[tuple[str, ...]] = ("view_policy", "root_export", "secret")
    """Permissions, and the tree to which they apply. Address pools and QoS policies do not give access."""

    @property
    def system(self) -> str:
        """Return the host of the management API."""
        return self.endpoint

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an invalid endpoint, and a missing or duplicate address pool."""
        yield from super().incompatibilities()
        yield from _host_violations("endpoint", self.endpoint, port=True)
        if self.vip_pool is None and self.vip_pool_fqdn is None:
            yield ConstraintViolation("is required if there is no vip_pool; write one of the two", ("vip_pool_fqdn",))
        elif self.vip_pool is not None and self.vip_pool_fqdn is not None:
            yield ConstraintViolation("cannot be combined with vip_pool_fqdn; remove one of the two", ("vip_pool",))


class TopolvmClassSpec(_ClassSpec):
    """Storage class of TopoLVM: volumes on the disks of the node that runs the pod."""

    driver: Literal["topolvm"]
    """The driver is TopoLVM."""
    device_class: DnsLabel
    """Volume group of the node's disks, by its name in the image."""
    durable: bool = False
    """Whether a volume survives the replacement of its node. Nodes are stateless, so local disks do not."""
    spare: Quantity | None = None
    """Space of each volume group that is reserved, in whole GiB, ``spare-gb`` of lvmd; 10 GiB by default. Entries of
    one ``device_class`` must have the same value."""
    encrypted: bool = False
    """Whether volumes are on encrypted devices whose key is lost at power-off. It requires golden images with
    ``contents.encrypted_scratch``, because TopoLVM does not encrypt. Volumes are then lost at each boot of their
    node."""
    management: bool = False
    """Whether the management cluster also has the class and the driver, for etcds of control planes. Its hosts then
    need the volume group. By default Jacquard creates no storage classes there."""
    SHARED: ClassVar[bool] = False
    """A volume is a logical volume of one node."""
    SNAPSHOTS: ClassVar[bool] = False
    """Snapshots would be on the same disks, and they are supported for thin pools only."""

    @property
    def spare_gib(self) -> int | None:
        """Return the reserved space in GiB; None for the default of lvmd."""
        return None if self.spare is None else bytes_of(self.spare) // _GIBIBYTE

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield unsupported mount options, reserved space in a wrong unit, and encryption of volumes for etcds."""
        yield from mount_options.incompatibilities(self.mount_options, nfs=False)
        if self.spare is not None and bytes_of(self.spare) % _GIBIBYTE:
            whole = -(-bytes_of(self.spare) // _GIBIBYTE)
            yield ConstraintViolation(f"must be a whole number of GiB; write {whole}Gi", ("spare",), self.spare)
        if self.encrypted and self.management:
            text = (
                "cannot be combined with management, because data stores would lose their data at each boot of a host;"
                " add a separate entry for the management cluster"
            )
            yield ConstraintViolation(text, ("encrypted",))


def _host_violations(key: str, text: str, *, port: bool) -> Iterator[ConstraintViolation]:
    """Yield a host with a scheme, a path or spaces, or in an ambiguous form."""
    match = _PORT.search(text) if port else None
    host = text[: match.start()] if match else text
    if plain_host(host) != host or (match and int(match[1]) > _MAX_PORT):
        what = "a host, or a host and its port," if port else "a host"
        rule = f"must be {what} without a scheme, a path or spaces"
        yield ConstraintViolation(f"{rule}; write {nearest_host(text, port=port)}", (key,), text)


def _directory_violations(directory: str) -> Iterator[ConstraintViolation]:
    """Yield unknown placeholders, and a directory that several claims would share."""
    path = ("sub_directory",)
    unknown = [name for name in re.findall(r"\$\{?[^/}]*\}?", directory) if name not in _PLACEHOLDERS]
    if unknown:
        near = nearest(unknown[0], _PLACEHOLDERS) or CLAIM
        yield ConstraintViolation(
            f"contains {unknown[0]}, which csi-driver-nfs does not replace; write {near}", path, directory
        )
        return
    if VOLUME in directory:
        return
    missing = [name for name in (NAMESPACE, CLAIM) if name not in directory]
    if missing:
        rule = f"is the same directory for claims that differ only in {listed(missing)}"
        yield ConstraintViolation(f"{rule}; write {NAMESPACE}/{CLAIM}, or {VOLUME}", path, directory)
    elif any(NAMESPACE in part and CLAIM in part for part in directory.split("/")):
        rule = "is the same directory for claim b-c of namespace a and claim c of namespace a-b"
        yield ConstraintViolation(f"{rule}; write {NAMESPACE}/{CLAIM}", path, directory)


StorageClassSpec = Annotated[NfsClassSpec | VastClassSpec | TopolvmClassSpec, Field(discriminator="driver")]
