"""What the networks in a VPC's rules are, in words."""

from __future__ import annotations

from components.render.vpc import Vpc
from components.specs.base import Network
from components.specs.region import NetworksSpec


def why(vpc: Vpc, network: Network, plan: NetworksSpec) -> str:
    """Return why a rule of ``vpc`` names ``network``; one that is none of those below stands for everything else."""
    return _names(vpc, plan).get(network, f"egress: {vpc.spec.egress}")


def _names(vpc: Vpc, plan: NetworksSpec) -> dict[Network, str]:
    names = {Network(f"{address}/32"): "its control plane" for address in vpc.control_planes}
    names |= {prefix: f"its own {name.replace('_', ' ')}" for name, prefix in vpc.numbers.prefixes.items()}
    for peer in vpc.peers:
        for name, prefix in peer.numbers.prefixes.items():
            names[prefix] = f"{name.replace('_', ' ')} of its peer {peer.tenant}/{peer.vpc}"
    for key in ("management", "bmc", "boot", "control_plane_vips", "dpu_loopbacks"):
        network: Network | None = getattr(plan, key)
        if network is not None:
            names[network] = f"networks.{key}, which no tenant sees"
    names[plan.storage] = "storage"
    names |= dict.fromkeys(plan.border.networks if plan.border else (), "behind the border, for every VPC")
    return names | {plan.tenants: "other tenants"}
