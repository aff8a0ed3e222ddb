"""A tenant's VPC on the DPUs of its hosts; one module a backend, all from the same neutral input."""

from __future__ import annotations

from dataclasses import dataclass

from components.render import dpf_hbn, dpf_ovn
from components.render.dpus import DpuPlatform
from components.render.manifest import Manifest
from components.render.vpc import Vpc
from components.specs.tenant_network import Isolation

_BACKENDS = {Isolation.DPF_HBN: dpf_hbn.render, Isolation.DPF_OVN: dpf_ovn.render}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantNetworkInput:
    """One VPC."""

    name: str
    vpc: Vpc
    platform: DpuPlatform


def render_tenant_network(network: TenantNetworkInput) -> tuple[Manifest, ...]:
    """Return the objects of one VPC, in the order they are applied."""
    return _BACKENDS[network.vpc.spec.isolation](network.vpc, network.platform)
