"""Lock files: numbers, host assignment and image pins. Machines write them, people review them.

``allocations.lock.yaml`` is changed by ``jacquard allocate`` only, ``images.lock.yaml`` by ``jacquard promote``.
"""

from __future__ import annotations

from pydantic import Field

from components.specs.base import Cidr, DataFile, IpAddress, Sha256, Spec, VersionName


class VpcAllocation(Spec):
    """Numbers of one VPC."""

    vni: int = Field(ge=1, le=16_777_215)
    asn: int = Field(ge=1, le=4_294_967_295)
    hosts: Cidr
    pods: Cidr
    services: Cidr
    load_balancers: Cidr


class ClusterAllocation(Spec):
    """Numbers of one cluster."""

    vip: IpAddress
    """Address of the hosted control plane."""


class GroupAllocation(Spec):
    """Size of one rollout group."""

    nodes: int = Field(ge=0)
    """Machines the group runs; hosts assigned beyond that are its spares."""


class AllocationsLock(DataFile):
    """``allocations.lock.yaml``."""

    vpcs: dict[str, VpcAllocation] = Field(default_factory=dict)
    """By VPC name; VPC names are unique in a region."""
    clusters: dict[str, ClusterAllocation] = Field(default_factory=dict)
    public_ips: dict[str, IpAddress] = Field(default_factory=dict)
    """By ``cluster/vm``."""
    hosts: dict[str, str] = Field(default_factory=dict)
    """Host to ``cluster/pool``; a host that is missing here is free."""
    groups: dict[str, GroupAllocation] = Field(default_factory=dict)
    """By ``cluster/pool/failure-domain``."""


class ImagePin(Spec):
    """The image and template revision a rollout group runs."""

    image: VersionName
    sha256: Sha256
    revision: int = Field(ge=1)
    """Revision of the template renderer; a new one is taken only when the group rolls anyway."""


class ImagesLock(DataFile):
    """``images.lock.yaml``."""

    groups: dict[str, ImagePin] = Field(default_factory=dict)
    """By ``cluster/pool/failure-domain``."""
