"""Storage classes of a region, one model a driver: an unknown parameter key would fail every CreateVolume."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from components.specs.base import ABSOLUTE_PATH, RELATIVE_PATH, DnsLabel, IpAddress, Spec, Text


class ReclaimPolicy(StrEnum):
    """What happens to a volume whose claim is gone (``reclaimPolicy`` of Kubernetes)."""

    DELETE = "Delete"
    """The volume is deleted with its content."""
    RETAIN = "Retain"
    """The volume stays until somebody deletes it."""


class _ClassSpec(Spec):
    name: DnsLabel
    """Name of the class, which claims name as ``storageClassName``."""
    default: bool = False
    """Whether claims that name no class get this one; exactly one class of a cluster is the default."""
    reclaim: ReclaimPolicy = ReclaimPolicy.DELETE
    """What happens to a volume whose claim is gone."""
    mount_options: tuple[Text, ...] = ()
    """Options that volumes of the class are mounted with, copied when a volume is made; older volumes keep theirs."""


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
    csi-driver-nfs."""


class VastClassSpec(_ClassSpec):
    """A class of VAST CSI. Each claim is a view with a quota, so capacity is enforced."""

    driver: Literal["vast"]
    """The driver is VAST CSI."""
    endpoint: Text
    """Host of the management API of the VAST system, without a scheme."""
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


class TopolvmClassSpec(_ClassSpec):
    """A class of TopoLVM: volumes on the disks of the node that runs the pod."""

    driver: Literal["topolvm"]
    """The driver is TopoLVM."""
    device_class: DnsLabel
    """Volume group of the node's disks, as the image names it."""
    durable: bool = False
    """Whether a volume survives the replacement of its node. Nodes are stateless, so local disks are not."""


StorageClassSpec = Annotated[NfsClassSpec | VastClassSpec | TopolvmClassSpec, Field(discriminator="driver")]
