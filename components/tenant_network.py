"""A VPC: what isolates a tenant and connects its clusters."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.network.tenant_network import TenantNetworkInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class TenantNetworkArgs:
    """What a TenantNetwork is made from."""

    network: TenantNetworkInput
    clusters: Clusters


class TenantNetwork(pulumi.ComponentResource):
    """One VPC, by whatever isolates it.

    Children: one resource per item of `TenantNetworkInput.render`.
    """

    vni: pulumi.Output[int]
    """Virtual network identifier of the VPC."""

    def __init__(self, name: str, args: TenantNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:TenantNetwork", name, {}, opts)
        register(self, name, args.network.render(), args.clusters)
        self.vni = pulumi.Output.from_input(args.network.vpc.numbers.vni)
        self.register_outputs({"vni": self.vni})
