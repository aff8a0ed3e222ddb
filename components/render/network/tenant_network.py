"""Tenant VPCs, rendered on the DPUs of hosts or in each cluster; one module per backend, with the same input.

A cluster with nodes on an InfiniBand fabric also has a partition of the VPC there, independent of the backend.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render.backends import NETWORK_BACKENDS
from components.render.manifest import Manifest
from components.render.network import infiniband, rails, roce
from components.render.network.dpus import DpuPlatform
from components.render.network.vpc import Vpc
from components.specs.network.tenant_network import VpcSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantNetworkInput:
    """One VPC, or its part in one of its clusters."""

    name: str
    vpc: Vpc
    platform: DpuPlatform
    cluster: str | None
    """Cluster of the objects; None if DPUs isolate the VPC."""
    partition: infiniband.Partition | None
    """The VPC's partition for the nodes of ``cluster``; None if they have no InfiniBand fabric."""
    rails: rails.Rails | None = None
    """Rails with RoCE functions for pods of ``cluster``; None if there are none."""
    roce: roce.RocePorts | None = None
    """RoCE ports shared by pods of ``cluster``; None if there are none."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one VPC, in the order they are applied."""
        vpc, partition, borders = self.vpc, self.partition, NETWORK_BACKENDS[self.vpc.spec.isolation]
        if self.cluster is None:
            return borders.network(vpc, self.platform)
        return (
            *borders.inside(vpc, self.platform.networks, self.cluster),
            *(() if partition is None else infiniband.render(partition, self.cluster, vpc.tenant)),
            *(() if self.rails is None else rails.render(self.rails, self.cluster, vpc.tenant)),
            *(() if self.roce is None else roce.render(self.roce, self.cluster)),
        )


def on_dpus(vpc: VpcSpec) -> bool:
    """Return whether the DPUs of its hosts isolate ``vpc``; otherwise each of its clusters does."""
    return NETWORK_BACKENDS[vpc.isolation].on_dpus
