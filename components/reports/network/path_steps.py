"""Decisions on the path of a packet: device, rule, and owner of the rule."""

from __future__ import annotations

from enum import StrEnum

from components.render.network.packets import Rule
from components.render.network.vpc import Peer, Vpc
from components.specs.base import Network, Spec
from components.specs.network.tenant_network import Egress
from components.specs.region.region import NetworksSpec
from components.specs.struct import Struct


class Keeper(StrEnum):
    """Owner of a step."""

    RENDERED = "rendered"
    """Objects that Jacquard renders."""
    BORDER = "border"
    """Border routers outside Jacquard, configured according to the border contract."""
    NOBODY = "nobody"
    """Not decided by Jacquard: the network in between decides."""


class Way(StrEnum):
    """Direction of a packet."""

    THERE = "there"
    BACK = "back"


class Step(Spec):
    """Decision on the path of a packet."""

    way: Way
    device: str
    rule: str
    passes: bool
    kept_by: Keeper


class Verdict(Struct, kw_only=False):
    """Decision whose direction is not set yet."""

    device: str
    rule: str
    passes: bool
    kept_by: Keeper = Keeper.RENDERED

    @classmethod
    def by_peering(cls, vpc: str, peer: Peer) -> Verdict:
        """Return the verdict of VRF ``vpc``, which imports the routes of ``peer``."""
        words = f"peering with {peer.tenant}/{peer.vpc}: routes of route target {peer.numbers.evpn_target}"
        return cls(f"VRF {vpc}", words, passes=True)


def why(vpc: Vpc, rule: Rule, plan: NetworksSpec) -> str:
    """Return the reason for ``rule`` of ``vpc``; rules for networks without a name follow from the egress setting."""
    outside = vpc.spec.egress is Egress.PUBLIC
    rest = f"security group {vpc.group.name}" if vpc.group and outside else f"egress: {vpc.spec.egress}"
    return _names(vpc, plan).get(rule.network, rest)


def about(rule: Rule) -> str:
    """Return the packets that ``rule`` applies to, as text: network, protocol, and the port of one end."""
    ports = rule.ports
    port = f" port {ports.near} here" if ports.near else f" port {ports.far} there" if ports.far else ""
    return f"{rule.network}" + (f", {ports.protocol}{port}" if ports.protocol else "")


def _names(vpc: Vpc, plan: NetworksSpec) -> dict[Network, str]:
    names = dict.fromkeys(vpc.spec.deny, "deny of this VPC")
    names |= dict.fromkeys(plan.deny, "networks.deny, unreachable for VPCs")
    names |= {Network(f"{address}/32"): "its control plane" for address in vpc.control_planes}
    names |= {service.network: f"{service.name}, for every VPC" for service in vpc.services}
    names |= {prefix: f"its {name.replace('_', ' ')}" for name, prefix in vpc.numbers.prefixes.items()}
    for peer in vpc.peers:
        for name, prefix in peer.numbers.prefixes.items():
            names[prefix] = f"{name.replace('_', ' ')} of its peer {peer.tenant}/{peer.vpc}"
    for key in ("management", "bmc", "boot", "control_plane_vips", "dpu_loopbacks", "ovn"):
        network: Network | None = getattr(plan, key)
        if network is not None:
            names[network] = f"networks.{key}, unreachable for tenants"
    names[plan.storage] = "storage"
    names |= dict.fromkeys(plan.border.networks if plan.border else (), "behind the network edge, for every VPC")
    return names | {plan.tenants: "other tenants" if vpc.group is None else "peers outside its security group"}
