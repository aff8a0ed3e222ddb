"""Storage classes of a region, one model a driver: an unknown parameter key would fail every CreateVolume."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from components.specs import mount_options
from components.specs.base import (
    ABSOLUTE_PATH,
    RELATIVE_PATH,
    Address,
    CheckedSpec,
    DnsLabel,
    IpAddress,
    Misfit,
    Text,
)
from components.specs.host_text import nearest_host, plain_host
from components.specs.problems import listed, nearest

CLAIM, NAMESPACE, VOLUME = "${pvc.metadata.name}", "${pvc.metadata.namespace}", "${pv.metadata.name}"
"""What csi-driver-nfs puts into ``subDir`` (csi-driver-nfs:docs/driver-parameters.md)."""
_PLACEHOLDERS = (CLAIM, NAMESPACE, VOLUME)
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

    def misfits(self) -> Iterator[Misfit]:
        """Yield mount options that no mount would take."""
        yield from mount_options.misfits(self.mount_options, nfs=True)


class NfsClassSpec(_ClassSpec):
    """A class of csi-driver-nfs. Sizes are labels, not quotas: the driver does not enforce capacity."""

    driver: Literal["nfs"]
    """The driver is csi-driver-nfs."""
    server: IpAddress | Text
    """Address or name of the NFS server, ``server`` of csi-driver-nfs."""
    share: str = Field(pattern=ABSOLUTE_PATH)
    """Directory that the server exports, ``share`` of csi-driver-nfs; clusters of all tenants are on it."""
    sub_directory: str = Field(default="${pvc.metadata.namespace}/${pvc.metadata.name}", pattern=RELATIVE_PATH)
    """Directory of a volume below the cluster's own, which is called after the cluster; the end of ``subDir`` of
    csi-driver-nfs. It holds namespace and name of the claim, or the name of the volume, so that no two claims
    share one."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a server that is more than a host, and a directory that two claims would share."""
        yield from super().misfits()
        if not isinstance(self.server, Address):
            yield from _host_misfits("server", self.server, port=False)
        yield from _directory_misfits(self.sub_directory)


class VastClassSpec(_ClassSpec):
    """A class of VAST CSI. Each claim is a view with a quota, so capacity is enforced."""

    driver: Literal["vast"]
    """The driver is VAST CSI."""
    endpoint: Text
    """Host of the management API of the VAST system, with a port where it is not 443, without a scheme and a path."""
    vip_pool: Text
    """Pool of virtual addresses on the storage network that nodes mount from, ``vip_pool_name`` of VAST CSI."""
    view_policy: Text
    """Policy of the views that claims become, ``view_policy`` of VAST CSI."""
    root_export: str = Field(pattern=ABSOLUTE_PATH)
    """Path below which claims get their own, ``root_export`` of VAST CSI."""
    secret: DnsLabel
    """Secret in the ``vast-csi`` namespace with username, password and endpoint. It is a reference, never a value.

    One driver serves a cluster, so that classes with different endpoints are told apart by their secrets alone.
    """

    def misfits(self) -> Iterator[Misfit]:
        """Yield an endpoint that is more than a host and its port."""
        yield from super().misfits()
        yield from _host_misfits("endpoint", self.endpoint, port=True)


class TopolvmClassSpec(_ClassSpec):
    """A class of TopoLVM: volumes on the disks of the node that runs the pod."""

    driver: Literal["topolvm"]
    """The driver is TopoLVM."""
    device_class: DnsLabel
    """Volume group of the node's disks, as the image names it."""
    durable: bool = False
    """Whether a volume survives the replacement of its node. Nodes are stateless, so local disks are not."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield mount options that are none of a local file system."""
        yield from mount_options.misfits(self.mount_options, nfs=False)


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
