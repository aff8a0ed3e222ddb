"""Storage classes of a region, one model a driver: an unknown parameter key would fail every CreateVolume."""

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
    DnsLabel,
    IpAddress,
    Misfit,
    Quantity,
    Text,
    bytes_of,
)
from components.specs.host_text import nearest_host, plain_host
from components.specs.reading.problems import listed, nearest
from components.specs.storage import mount_options
from components.specs.storage.snapshots import TreeSnapshotsSpec

CLAIM, NAMESPACE, VOLUME = "${pvc.metadata.name}", "${pvc.metadata.namespace}", "${pv.metadata.name}"
"""What csi-driver-nfs puts into ``subDir`` (csi-driver-nfs:docs/driver-parameters.md)."""
_PLACEHOLDERS = (CLAIM, NAMESPACE, VOLUME)
TENANT = "<tenant>"
"""What stands for the name of the tenant whose cluster offers a class."""
TENANT_LABEL = r"^([a-z]([-a-z0-9]*[a-z0-9])?|([a-z][-a-z0-9]*)?<tenant>([-a-z0-9]*[a-z0-9])?)$"
TENANT_HOST = r"^([a-z0-9]|<tenant>)([-a-z0-9]|<tenant>)*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$"
TenantLabel = Annotated[str, StringConstraints(pattern=TENANT_LABEL, max_length=56)]
"""DNS-1035 label in which `TENANT` may stand once, for a name of at most 15 characters."""
TenantHost = Annotated[str, StringConstraints(pattern=TENANT_HOST, max_length=240)]
"""DNS name in whose first label `TENANT` may stand."""
SPARE_GIB = 10
"""GiB of a volume group that lvmd keeps unless it is told otherwise (topolvm/topolvm:docs/lvmd.md)."""
_GIBIBYTE = 1 << 30
_PORT = re.compile(r":([1-9][0-9]{0,4})$")
_MAX_PORT = 65535


class ReclaimPolicy(StrEnum):
    """What happens to a volume whose claim is gone (``reclaimPolicy`` of Kubernetes)."""

    DELETE = "Delete"
    """The volume is deleted with its content."""
    RETAIN = "Retain"
    """The volume stays until somebody deletes it."""


class _ClassSpec(CheckedSpec):
    name: DnsLabel
    """Name of the class, which claims name as ``storageClassName``."""
    default: bool = False
    """Whether claims that name no class get this one; exactly one class of a cluster is the default."""
    reclaim: ReclaimPolicy = ReclaimPolicy.DELETE
    """What happens to a volume whose claim is gone."""
    mount_options: tuple[Text, ...] = ()
    """Options that volumes of the class are mounted with, one an entry, copied when a volume is made; older ones keep
    theirs."""

    PER_TENANT: ClassVar[tuple[str, ...]] = ()
    """Fields in which `TENANT` may stand."""
    WALLS: ClassVar[tuple[str, ...]] = ()
    """Fields that keep tenants of one storage system apart: no two tenants may have a value of them in common."""
    SHARED: ClassVar[bool] = True
    """Whether many nodes can have a volume mounted at once; its driver refuses ReadWriteMany otherwise."""
    SNAPSHOTS: ClassVar[bool] = True
    """Whether the class has a snapshot class of its name, and its driver clones volumes."""

    def of_tenant(self, tenant: str) -> Self:
        """Return the class as clusters of ``tenant`` have it."""
        texts = {key: getattr(self, key) for key in self.PER_TENANT}
        return self.model_copy(update={key: text.replace(TENANT, tenant) for key, text in texts.items() if text})

    def misfits(self) -> Iterator[Misfit]:
        """Yield mount options that no mount would take, what is not quite `TENANT`, and paths that lead elsewhere."""
        yield from mount_options.misfits(self.mount_options, nfs=True)
        for key in self.PER_TENANT:
            text = getattr(self, key) or ""
            strange = [found for found in re.findall(r"<[^>/]*>?", text) if found != TENANT]
            if strange:
                yield Misfit(f"holds {strange[0]}, which nothing fills in; write {TENANT}", (key,), text)
            if {".", ".."} & set(text.split("/")):
                yield Misfit("has a part that is '.' or '..'; write the path as it is without", (key,), text)


class NfsClassSpec(_ClassSpec):
    """A class of csi-driver-nfs. Sizes are labels, not quotas: the driver does not enforce capacity."""

    driver: Literal["nfs"]
    """The driver is csi-driver-nfs."""
    server: IpAddress | Text
    """Address or name of the NFS server, ``server`` of csi-driver-nfs."""
    share: str = Field(pattern=ABSOLUTE_PATH)
    """Directory that the server exports, ``share`` of csi-driver-nfs. ``<tenant>`` in it stands for the tenant's name:
    each tenant has an export of its own, open to its own hosts."""
    sub_directory: str = Field(default="${pvc.metadata.namespace}/${pvc.metadata.name}", pattern=RELATIVE_PATH)
    """Directory of a volume below the cluster's own, which is called after the cluster; the end of ``subDir`` of
    csi-driver-nfs. It holds namespace and name of the claim, or the name of the volume, so that no two claims
    share one."""
    PER_TENANT: ClassVar[tuple[str, ...]] = ("share",)
    """The export is a tenant's own."""
    WALLS: ClassVar[tuple[str, ...]] = ("share",)
    """The export is all that keeps tenants apart."""

    @property
    def system(self) -> str:
        """Return the NFS server."""
        return str(self.server)

    def misfits(self) -> Iterator[Misfit]:
        """Yield a server that is more than a host, and a directory that two claims would share."""
        yield from super().misfits()
        if not isinstance(self.server, Address):
            yield from _host_misfits("server", self.server, port=False)
        yield from _directory_misfits(self.sub_directory)


class VastClassSpec(_ClassSpec):
    """A class of VAST CSI. Each claim is a view with a quota, so capacity is enforced.

    ``<tenant>`` in its names stands for the tenant's name: each has a tenant of its own on the system.
    """

    driver: Literal["vast"]
    """The driver is VAST CSI."""
    endpoint: Text
    """Host of the management API of the VAST system, with a port where it is not 443, without a scheme and a path."""
    vip_pool: Text | None = None
    """Pool of virtual addresses on the storage network that nodes mount from, ``vip_pool_name`` of VAST CSI. The driver
    looks it up, which an administrator of one tenant may not."""
    vip_pool_fqdn: TenantHost | None = None
    """Name of such a pool in VAST's DNS, ``vip_pool_fqdn`` of VAST CSI: nodes spread over its addresses, and nobody
    looks it up at the management. Either this or ``vip_pool`` is there."""
    view_policy: Text
    """Policy of the views that claims become, ``view_policy`` of VAST CSI. It decides the tenant of the system, and
    which hosts mount."""
    root_export: str = Field(pattern=ABSOLUTE_PATH)
    """Path below which claims get their own, ``root_export`` of VAST CSI."""
    qos_policy: Text | None = None
    """Policy that bounds what the views may take of the system, ``qos_policy`` of VAST CSI; unbounded when it is left
    out."""
    secret: TenantLabel
    """Secret in the ``vast-csi`` namespace with username, password and endpoint. It is a reference, never a value, and
    its account owns no more than the tenant's tree, since administrators of the cluster can read it.

    One driver serves a cluster, so that classes with different endpoints are told apart by their secrets alone.
    """
    snapshots: TreeSnapshotsSpec | None = None
    """Snapshots that the system takes of ``root_export``, by a protection policy that whoever runs it makes; nobody is
    asked for any when it is left out."""
    PER_TENANT: ClassVar[tuple[str, ...]] = (
        "vip_pool", "vip_pool_fqdn", "view_policy", "root_export", "qos_policy", "secret",
    )  # fmt: skip
    """Whatever the system knows by a name or a path is a tenant's own."""
    WALLS: ClassVar[tuple[str, ...]] = ("view_policy", "root_export", "secret")
    """Rights, and the tree that they are to; pools and qualities of service give nobody access."""

    @property
    def system(self) -> str:
        """Return the host of the management."""
        return self.endpoint

    def misfits(self) -> Iterator[Misfit]:
        """Yield an endpoint that is more than a host and its port, and a pool of addresses that is missing or twice."""
        yield from super().misfits()
        yield from _host_misfits("endpoint", self.endpoint, port=True)
        if self.vip_pool is None and self.vip_pool_fqdn is None:
            yield Misfit("is missing, and vip_pool too; write one of the two", ("vip_pool_fqdn",))
        elif self.vip_pool is not None and self.vip_pool_fqdn is not None:
            yield Misfit("stands beside vip_pool_fqdn, and the driver takes one; remove one of the two", ("vip_pool",))


class TopolvmClassSpec(_ClassSpec):
    """A class of TopoLVM: volumes on the disks of the node that runs the pod."""

    driver: Literal["topolvm"]
    """The driver is TopoLVM."""
    device_class: DnsLabel
    """Volume group of the node's disks, as the image names it."""
    durable: bool = False
    """Whether a volume survives the replacement of its node. Nodes are stateless, so local disks are not."""
    spare: Quantity | None = None
    """Room of each volume group that counts as taken, in whole GiB, ``spare-gb`` of lvmd, which keeps 10 GiB when it is
    left out. Entries of one ``device_class`` say the same."""
    encrypted: bool = False
    """Whether volumes are on devices whose key is lost with the node's power. Golden images do that
    (``contents.encrypted_scratch``), since TopoLVM encrypts nothing; volumes then end with each boot of their node."""
    management: bool = False
    """Whether the management cluster has the class as well, with the driver, for etcds of control planes. Its hosts
    then have the volume group; somebody else makes classes there when no entry says so."""
    SHARED: ClassVar[bool] = False
    """A volume is a logical volume of one node."""
    SNAPSHOTS: ClassVar[bool] = False
    """Snapshots would be on the same disks, and of thin pools only."""

    @property
    def spare_gib(self) -> int | None:
        """Return the spare room in GiB; None where lvmd decides."""
        return None if self.spare is None else bytes_of(self.spare) // _GIBIBYTE

    def misfits(self) -> Iterator[Misfit]:
        """Yield options that no local file system has, spare room that lvmd cannot count, and keys that etcds lose."""
        yield from mount_options.misfits(self.mount_options, nfs=False)
        if self.spare is not None and bytes_of(self.spare) % _GIBIBYTE:
            whole = -(-bytes_of(self.spare) // _GIBIBYTE)
            yield Misfit(f"is no whole number of GiB, which lvmd counts in; write {whole}Gi", ("spare",), self.spare)
        if self.encrypted and self.management:
            text = (
                "stands beside management, and data stores there would lose their data whenever a host boots; make an"
                " entry of its own for the management cluster"
            )
            yield Misfit(text, ("encrypted",))


def _host_misfits(key: str, text: str, *, port: bool) -> Iterator[Misfit]:
    """Yield a host with a scheme, a path, blanks, or in a form that is read in many ways."""
    found = _PORT.search(text) if port else None
    host = text[: found.start()] if found else text
    if plain_host(host) != host or (found and int(found[1]) > _MAX_PORT):
        what = "a host, or a host and its port," if port else "a host"
        rule = f"must be {what} without a scheme, a path or blanks"
        yield Misfit(f"{rule}; write {nearest_host(text, port=port)}", (key,), text)


def _directory_misfits(directory: str) -> Iterator[Misfit]:
    """Yield placeholders that the driver does not know, or a directory that two claims would share."""
    path = ("sub_directory",)
    unknown = [name for name in re.findall(r"\$\{?[^/}]*\}?", directory) if name not in _PLACEHOLDERS]
    if unknown:
        near = nearest(unknown[0], _PLACEHOLDERS) or CLAIM
        yield Misfit(f"holds {unknown[0]}, which csi-driver-nfs does not fill in; write {near}", path, directory)
        return
    if VOLUME in directory:
        return
    missing = [name for name in (NAMESPACE, CLAIM) if name not in directory]
    if missing:
        rule = f"is one directory for claims that differ in {listed(missing)} alone"
        yield Misfit(f"{rule}; write {NAMESPACE}/{CLAIM}, or {VOLUME}", path, directory)
    elif any(NAMESPACE in part and CLAIM in part for part in directory.split("/")):
        rule = "is one directory for claim b-c of namespace a and claim c of namespace a-b"
        yield Misfit(f"{rule}; write {NAMESPACE}/{CLAIM}", path, directory)


StorageClassSpec = Annotated[NfsClassSpec | VastClassSpec | TopolvmClassSpec, Field(discriminator="driver")]
