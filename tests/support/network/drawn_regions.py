"""Random regions for network tests: tenants with every backend, with and without declared edge routers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from components.allocate.allocation import allocate
from components.render.backends import NETWORK_BACKENDS as BACKENDS
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.hosts.instance_types import RdmaSpec
from components.specs.ipv6 import Ipv6Spec, Network6
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.network.border import BorderSpec
from components.specs.network.fabrics import FabricSpec
from components.specs.network.security_groups import SecurityGroupSpec, SecurityRuleSpec
from components.specs.network.tenant_network import Egress, Ingress, Isolation, MorePrefixSpec, PeerSpec, PrefixKind
from components.specs.reading.loader import load_environment
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, replace
from tests.support.data.environment_data import ENVIRONMENTS

BORDER = BorderSpec.model_validate(
    {"asn": 64496, "services": 100, "internet": 200, "networks": ("10.6.0.0/24", "10.7.0.0/28")}
)
FABRIC = FabricSpec.model_validate(
    {
        "name": "ib",
        "kind": "infiniband",
        "pkeys": "0x10-0xff",
        "guids": "0x0000000000001000-0x00000000000fffff",
        "ufm_secret": "ufm",
        "max_hosts": 1000,
    }
)
RAILS = FabricSpec.model_validate(
    {
        "name": "roce",
        "kind": "ethernet",
        "vnis": "1-99",
        "roce": {"mtu_bytes": 9000, "priority": 3, "dscp": 26, "cnp_dscp": 48},
        "rails": 2,
        "rail_prefixes": "10.200.0.0/16",
        "max_hosts": 1000,
    }
)
"""Ethernet fabric from whose rails pods get addresses."""
_MODEL, _ON_RAILS = "h100-ib-8", "h100-rails"
"""Instance types of pools: that of laptop, and one whose pods get virtual functions of ports on rails."""
IPV6 = Network6("fd42::/40")
_WAYS = ("ingress", "egress")
NAMES = ("ant", "bee", "cat", "dog")
_EMPTY: dict[str, Any] = {
    "allocations": AllocationsLock(schema_version=1),
    "image_pins": ImagesLock(schema_version=1),
    "tenants": (),
}


class Wish(Struct):
    """Requirements of one tenant."""

    isolation: Isolation
    egress: Egress
    ingress: Ingress
    pods: int
    """Prefix length for pods."""
    public: int
    """VMs with a public address."""
    nodes: int
    fabric: bool
    """Whether its nodes are on InfiniBand, if they are not on rails."""
    rails: bool = False
    """Whether its nodes are on RoCE, with rail addresses in pods."""
    more: tuple[PrefixKind, ...] = ()
    """Uses for which its VPC has a further prefix, one each."""
    group: SecurityGroupSpec | None = None
    """Security rules of its VPC if HBN isolates it, without rules about tenants that are not peered."""
    deny: tuple[Network, ...] = ()
    """Networks that its VPC may never reach, if the backend filters packets."""
    ipv6: bool = False
    """Whether its VPC has IPv6 prefixes."""
    second: bool = False
    """Whether its VPC has a second cluster, without nodes yet, if the backend permits several."""


PLAIN = Wish(
    isolation=Isolation.DPF_HBN,
    egress=Egress.PUBLIC,
    ingress=Ingress.PUBLIC,
    pods=24,
    public=1,
    nodes=1,
    fabric=True,
)
DENIED = tuple(map(Network, ("198.51.7.0/24", "9.9.0.0/16", "10.0.0.0/15", "10.1.0.0/24")))
"""Networks that may be denied to a VPC: external ones, and ones that no VPC may reach anyway."""
PORTS = (("tcp", 22), ("tcp", 443), ("udp", 53), ("icmp", 0))
"""Protocols and ports of rules and of tested connections."""
RULES = st.builds(
    lambda far_end, asked, every: SecurityRuleSpec.model_validate(
        {**far_end, "protocol": asked[0], "ports": () if every or not asked[1] else (asked[1],)}
    ),
    far_end=st.sampled_from(({"cidr": "0.0.0.0/0"}, {"cidr": "198.51.0.0/16"}, *({"peer": name} for name in NAMES))),
    asked=st.sampled_from((*PORTS, ("any", 0))),
    every=st.booleans(),
)
_SIDE = st.lists(RULES, max_size=3).map(tuple)
GROUPS = st.builds(
    SecurityGroupSpec,
    name=st.just("edge"),
    ingress=st.lists(RULES, max_size=3).map(tuple),
    egress=st.lists(RULES, max_size=3).map(tuple),
)
WISHES = st.builds(
    Wish,
    isolation=st.sampled_from(list(Isolation)),
    egress=st.sampled_from(list(Egress)),
    ingress=st.sampled_from(list(Ingress)),
    pods=st.integers(18, 24),
    public=st.integers(0, 2),
    nodes=st.integers(1, 3),
    fabric=st.booleans(),
    rails=st.booleans(),
    more=st.lists(st.sampled_from(list(PrefixKind)), max_size=2).map(tuple),
    group=st.none() | GROUPS,
    deny=st.lists(st.sampled_from(DENIED), max_size=2).map(tuple),
    ipv6=st.booleans(),
    second=st.booleans(),
)
PEERINGS = st.sets(st.sampled_from(list(combinations(NAMES, 2))))
"""Pairs of tenants that both request peering of their VPCs, if HBN isolates both."""
TENANTS = st.dictionaries(st.sampled_from(NAMES), WISHES, min_size=1, max_size=len(NAMES))
MIXED = st.permutations(NAMES).flatmap(
    lambda names: st.tuples(*(WISHES for _ in names)).map(
        lambda wishes: {
            name: replace(wish, isolation=isolation)
            for name, wish, isolation in zip(names, wishes, Isolation, strict=True)
        }
    )
)
"""Four tenants, each with another backend, as waivers permit."""
NETWORK_BACKENDS = st.sampled_from((None, BORDER, BorderSpec(networks=BORDER.networks)))


@cache
def _laptop() -> Environment:
    """Return laptop with twice as many hosts; the added ones have an instance type with two ports on rails."""
    laptop = load_environment("laptop", ENVIRONMENTS)
    kinds, images = laptop.instance_types.instance_types, laptop.images.images
    ports = {"infiniband_ports": 0, "roce_ports": 2, "roce_interfaces": ("p0", "p1"), "rdma": RdmaSpec()}
    on_rails = next(kind for kind in kinds if kind.name == _MODEL).model_copy(update={"name": _ON_RAILS, **ports})
    fitting = [
        one.model_copy(
            update={"fits": (*one.fits, _ON_RAILS), "contents": one.contents.model_copy(update={"roce": RAILS.roce})}
        )
        for one in images
        if _MODEL in one.fits
    ]
    others = [one for one in images if _MODEL not in one.fits]
    hosts = [one for one in laptop.hosts if one.instance_type == _MODEL]
    more = [one.model_copy(update={"host": f"{one.host}-r", "instance_type": _ON_RAILS}) for one in hosts]
    return laptop.model_copy(
        update={
            "instance_types": laptop.instance_types.model_copy(update={"instance_types": (*kinds, on_rails)}),
            "images": laptop.images.model_copy(update={"images": (*fitting, *others)}),
            "hosts": (*laptop.hosts, *more),
        }
    )


def region(
    wishes: dict[str, Wish],
    border: BorderSpec | None,
    before: Environment | None = None,
    peerings: Iterable[tuple[str, str]] = (),
    deny: tuple[Network, ...] = (),
) -> Environment:
    """Return a region with these tenants only, allocated with the lock files of ``before`` if given.

    A peering of ``peerings`` applies if both tenants exist and use HBN; ``deny`` applies to all VPCs.
    """
    laptop = _laptop()
    networks = laptop.region.networks.model_copy(update={"border": border, "deny": deny, "tenants_ipv6": IPV6})
    fabric = {"networks": networks, "fabrics": (FABRIC, RAILS)}
    empty = laptop.model_copy(update=_EMPTY | {"region": laptop.region.model_copy(update=fabric)})
    tenants = tuple(_tenant(name, wish, _peers(name, wishes, peerings)) for name, wish in sorted(wishes.items()))
    made = (before or empty).model_copy(update={"tenants": tenants})
    numbers, pins = allocate(made)
    return made.model_copy(update={"allocations": numbers, "image_pins": pins})


def _peers(name: str, wishes: dict[str, Wish], peerings: Iterable[tuple[str, str]]) -> tuple[PeerSpec, ...]:
    hbn = {other for other, wish in wishes.items() if wish.isolation is Isolation.DPF_HBN}
    others = [other for pair in peerings if name in pair and hbn >= set(pair) for other in pair if other != name]
    return tuple(PeerSpec(tenant=other, vpc=other) for other in sorted(others))


def _tenant(name: str, wish: Wish, peers: tuple[PeerSpec, ...]) -> TenantSpec:
    model = next(one for one in _laptop().tenants if one.vms and one.vms.platform)
    vpc, cluster, vms = model.vpcs[0], model.clusters[0], model.vms
    assert vms is not None
    named = {peer.vpc for peer in peers}
    group = wish.group if wish.isolation is Isolation.DPF_HBN else None
    if group is not None:
        kept = {key: tuple(one for one in getattr(group, key) if one.cidr or one.peer in named) for key in _WAYS}
        group = group.model_copy(update=kept)
    network = {
        "name": name,
        "security_group": group and group.name,
        "pods": wish.pods,
        "ingress": wish.ingress,
        "egress": wish.egress,
        "isolation": wish.isolation,
        "peers": peers,
        "deny": () if wish.isolation is Isolation.DPF_OVN else wish.deny,
        "fabrics": (RAILS.name,) if wish.rails else (FABRIC.name,) if wish.fabric else (),
        "ipv6": Ipv6Spec.model_validate({"pods": "/60", "services": "/112"}) if wish.ipv6 else None,
        "more_prefixes": tuple(MorePrefixSpec.model_validate(more) for more in _more(name, wish)),
    }
    pool = next(one for one in cluster.pools if one.instance_type.startswith("h100"))
    kind = _ON_RAILS if wish.rails else _MODEL
    pool = pool.model_copy(update={"nodes": wish.nodes, "labels": {}, "instance_type": kind})
    clusters = [cluster.model_copy(update={"name": f"{name}-one", "vpc": name, "pools": (pool,)})]
    if _second(wish):
        clusters.append(cluster.model_copy(update={"name": second_cluster(name), "vpc": name, "pools": ()}))
    machine = vms.platform[0].model_copy(update={"public_ip": True})
    machines = tuple(machine.model_copy(update={"name": f"vm-{number}"}) for number in range(wish.public))
    return model.model_copy(
        update={
            "tenant": name,
            "vpcs": (vpc.model_copy(update=network),),
            "security_groups": () if group is None else (group,),
            "clusters": tuple(clusters),
            "vms": vms.model_copy(update={"cluster": f"{name}-one", "platform": machines}),
        }
    )


def second_cluster(tenant: str) -> str:
    """Return the name of the second cluster of ``tenant``."""
    return f"{tenant}-two"


def _second(wish: Wish) -> bool:
    return wish.second and BACKENDS[wish.isolation].several_clusters


def _more(tenant: str, wish: Wish) -> Iterator[dict[str, Any]]:
    """Yield the further prefixes of a VPC, those of the second cluster first, one of each kind that it needs."""
    kinds = (PrefixKind.PODS, PrefixKind.SERVICES, PrefixKind.LOAD_BALANCERS) if _second(wish) else ()
    for index, kind in enumerate(kinds):
        yield {"name": f"two-{index}", "kind": kind, "size": "/24", "cluster": second_cluster(tenant)}
    for index, kind in enumerate(wish.more):
        yield {"name": f"more-{index}", "kind": kind, "size": "/26"}
