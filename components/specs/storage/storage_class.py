"""Fields and facts that the storage classes of all backends have."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Text
from components.specs.host_text import nearest_host, plain_host
from components.specs.local_hosts import local_host
from components.specs.storage import mount_options
from components.specs.storage.snapshots import SnapshotMethod

TENANT = "<tenant>"
"""Placeholder for the name of the tenant whose cluster offers a class."""
TENANT_LABEL = r"^([a-z]([-a-z0-9]*[a-z0-9])?|([a-z][-a-z0-9]*)?<tenant>([-a-z0-9]*[a-z0-9])?)$"
TENANT_HOST = r"^([a-z0-9]|<tenant>)([-a-z0-9]|<tenant>)*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$"
TenantLabel = Annotated[str, StringConstraints(pattern=TENANT_LABEL, max_length=56)]
"""DNS-1035 label that may contain `TENANT` once; names of tenants have at most 15 characters."""
TenantHost = Annotated[str, StringConstraints(pattern=TENANT_HOST, max_length=240)]
"""DNS name whose first label may contain `TENANT`."""
UNFILLED = r"\b(?:TODO|FIXME|TBD|(?:CHANGE|REPLACE|FILL)[-_]?ME|(?:change|replace|fill)[-_]?me)\b"
"""Words for a value that is still to be written."""
_PLACEHOLDER = re.compile(rf"<[^>/]*>?|\$?\{{[^}}/]*\}}*|\$\w+|{UNFILLED}")
"""Text that looks like a placeholder, also of other tools."""
_SHARED_FILES = ("ReadWriteMany", "Filesystem")
_PORT = re.compile(r":([1-9][0-9]{0,4})$")
_MAX_PORT = 65535


class ReclaimPolicy(StrEnum):
    """Handling of a volume whose claim is deleted (``reclaimPolicy`` of Kubernetes)."""

    DELETE = "Delete"
    """The volume is deleted with its content."""
    RETAIN = "Retain"
    """The volume is kept until it is deleted explicitly."""


class ClassSpec(CheckedSpec):
    """A storage class, and the facts about its backend that renderers, rules and reports query.

    Each backend also has ``durable``, ``encrypted``, ``management`` (see ``NetworkClassSpec``) and ``snapshots`` (see
    ``VastClassSpec``): a field if the data can set it, otherwise a class variable.
    """

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
    ISOLATION: ClassVar[tuple[str, ...]] = ()
    """Fields that isolate tenants of one storage system: no two tenants may share a value of them."""
    SERVERS: ClassVar[tuple[str, ...]] = ()
    """Fields with servers from which nodes mount volumes; an address of one is in ``networks.storage``."""
    MANAGEMENT_APIS: ClassVar[tuple[str, ...]] = ()
    """Fields with hosts of APIs that drivers in clusters call, which may be outside ``networks.storage``."""
    NFS: ClassVar[bool] = True
    """Whether nodes mount volumes by NFS; otherwise volumes have a file system of their own, or are block devices."""
    NEGOTIATES_VERSION: ClassVar[bool] = False
    """Whether a node and the server negotiate the NFS version of a mount unless an option sets it."""
    LOCAL: ClassVar[bool] = False
    """Whether a volume is on the disks of the node that runs the pod, and deleted with the node."""
    MODES: ClassVar[tuple[tuple[str, str], ...]] = (_SHARED_FILES,)
    """Supported access and volume modes, the best for a VM disk first."""
    VOLUME_SNAPSHOTS: ClassVar[SnapshotMethod | None] = SnapshotMethod.POINT_IN_TIME
    """Snapshots of single volumes: the class has a snapshot class of the same name, and its driver clones volumes.
    None if the driver supports neither."""

    @property
    def shared(self) -> bool:
        """Return whether pods on many nodes can mount a volume at the same time."""
        return _SHARED_FILES in self.MODES

    @property
    def volume_group(self) -> str:
        """Return the volume group that nodes with volumes must have; empty if volumes are not on nodes."""
        return ""

    @property
    def reserved_gib(self) -> int:
        """Return the space on the disks of a node that volumes cannot use, in GiB; 0 if volumes are not on nodes."""
        return 0

    @property
    def system(self) -> str:
        """Return the host of the storage system; empty if volumes are on nodes."""
        return next((str(getattr(self, key)) for key in (*self.SERVERS, *self.MANAGEMENT_APIS)), "")

    def of_tenant(self, tenant: str) -> Self:
        """Return the class with the placeholders replaced for clusters of ``tenant``."""
        texts = {key: getattr(self, key) for key in self.PER_TENANT}
        return self.model_copy(update={key: text.replace(TENANT, tenant) for key, text in texts.items() if text})

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield invalid mount options, unknown placeholders, and paths with '.' or '..'."""
        yield from mount_options.incompatibilities(self.mount_options, nfs=self.NFS)
        for key in self.PER_TENANT:
            text = getattr(self, key) or ""
            strange = [name for name in _PLACEHOLDER.findall(text) if name != TENANT]
            if strange:
                right = text.replace(strange[0], TENANT)
                yield ConstraintViolation(
                    f"contains {strange[0]}, which is not a placeholder; write {right}", (key,), text
                )
            if {".", ".."} & set(text.split("/")):
                yield ConstraintViolation("has a part that is '.' or '..'; write the resolved path", (key,), text)


class NetworkClassSpec(ClassSpec):
    """A storage class whose volumes are on a storage system in the network."""

    durable: ClassVar[bool] = True
    """Whether a volume survives the replacement of its node."""
    encrypted: ClassVar[bool] = False
    """Whether volumes are on disks that the image of the node encrypts, and are lost at each boot of the node."""
    management: ClassVar[bool] = False
    """Whether the management cluster also has the class and the driver."""


def host_violations(key: str, text: str, *, port: bool) -> Iterator[ConstraintViolation]:
    """Yield a host with a scheme, a path or spaces, in an ambiguous form, or that is no server."""
    match = _PORT.search(text) if port else None
    host = text[: match.start()] if match else text
    if plain_host(host) != host or (match and int(match[1]) > _MAX_PORT):
        what = "a host, or a host and its port," if port else "a host"
        rule = f"must be {what} without a scheme, a path or spaces"
        yield ConstraintViolation(f"{rule}; write {nearest_host(text, port=port)}", (key,), text)
    elif why := local_host(host):
        yield ConstraintViolation(f"is {why}; write the name of a server", (key,), text)
