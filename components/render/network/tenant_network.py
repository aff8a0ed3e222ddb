"""VPCs of tenants, rendered for the DPUs of hosts or for each cluster. Each backend has a module with the same input.

For a cluster with nodes on an InfiniBand fabric, the VPC also has a partition of the fabric, with all backends.
"""

from __future__ import annotations

from components.render.backends import NETWORK_BACKENDS
from components.render.manifest import Manifest
from components.render.network import infiniband, rails, roce
from components.render.network.dpus import DpuPlatform
from components.render.network.vpc import Vpc
from components.specs.network.tenant_network import VpcSpec
from components.specs.struct import Struct


class TenantNetworkInput(Struct):
    """One VPC, or the objects of the VPC in one of its clusters."""

    name: str
    vpc: Vpc
    platform: DpuPlatform
    cluster: str | None
    """Cluster of the objects; None if DPUs isolate the VPC."""
    partition: infiniband.Partition | None
    """Partition of the VPC for the nodes of ``cluster``; None without an InfiniBand fabric."""
    rails: rails.Rails | None = None
    """Rails with RoCE functions for pods of ``cluster``; None without rails."""
    roce: roce.RocePorts | None = None
    """RoCE ports shared by pods of ``cluster``; None without shared ports."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one VPC, in the order in which they are applied."""
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
    """Return whether the DPUs of hosts isolate ``vpc``. If not, each cluster of the VPC isolates it."""
    return NETWORK_BACKENDS[vpc.isolation].on_dpus
