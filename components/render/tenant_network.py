"""A tenant's VPC, on the DPUs of its hosts or in each of its clusters; one module a backend, from the same input.

A cluster whose nodes are on an InfiniBand fabric has its part of the VPC there too, whatever isolates the VPC.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render import dpf_hbn, dpf_ovn, infiniband, kube_ovn, policy_only
from components.render.dpus import DpuPlatform
from components.render.manifest import Manifest
from components.render.vpc import Vpc
from components.specs.tenant_network import Isolation, VpcSpec

_ON_DPUS = {Isolation.DPF_HBN: dpf_hbn.render, Isolation.DPF_OVN: dpf_ovn.render}
_IN_CLUSTERS = {Isolation.KUBE_OVN: kube_ovn.render, Isolation.POLICY_ONLY: policy_only.render}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantNetworkInput:
    """One VPC, or what one of its clusters does for it."""

    name: str
    vpc: Vpc
    platform: DpuPlatform
    cluster: str | None
    """The cluster whose objects these are; None: DPUs isolate the VPC."""
    partition: infiniband.Partition | None
    """The VPC's partition for the nodes of ``cluster``; None when these are on no InfiniBand fabric."""


def on_dpus(vpc: VpcSpec) -> bool:
    """Tell whether the DPUs of its hosts isolate ``vpc``; if not, each of its clusters does."""
    return vpc.isolation in _ON_DPUS


def render_tenant_network(network: TenantNetworkInput) -> tuple[Manifest, ...]:
    """Return the objects of one VPC, in the order they are applied."""
    vpc, isolation = network.vpc, network.vpc.spec.isolation
    if network.cluster is None:
        return _ON_DPUS[isolation](vpc, network.platform)
    partition = network.partition
    return (
        *(() if on_dpus(vpc.spec) else _IN_CLUSTERS[isolation](vpc, network.platform.networks, network.cluster)),
        *(() if partition is None else infiniband.render(partition, network.cluster, vpc.tenant)),
    )
