"""Kinds of allocated numbers: range, and format in lock files and messages."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from components.lookups.numbers import Block, as_block, hosts_of
from components.specs.base import Address, Network
from components.specs.ipv6 import ADDRESS_BITS as IPV6_BITS
from components.specs.ipv6 import Network6
from components.specs.locks import ClusterAllocation
from components.specs.network.fabrics import GuidNumbers
from components.specs.network.vpc_allocation import IPV6_PREFIXES, VpcAllocation
from components.specs.struct import Struct

ADDRESS_BITS = 32
PREFIXES = ("pods", "services", "hosts", "load_balancers")
"""Keys of a VPC's prefixes in allocation order; allocating wide prefixes first leaves fewer gaps."""


class Kind(NamedTuple):
    """Kind of number, as named in the quarantine; numbers on fabrics have one kind per fabric."""

    section: str
    fabric: str = ""


VNIS = Kind("vnis")
ASNS = Kind("asns")
ROUTE_TARGETS = Kind("route_targets")
VPC_PREFIXES = Kind("prefixes")
VIPS = Kind("vips")
PUBLIC_IPS = Kind("public_ips")
VPC_PREFIXES_IPV6 = Kind("prefixes_ipv6")


def pkeys(fabric: str) -> Kind:
    """Return the kind of the partition keys of ``fabric``."""
    return Kind("pkeys", fabric)


def fabric_vnis(fabric: str) -> Kind:
    """Return the kind of the VNIs of ``fabric``."""
    return Kind("fabric_vnis", fabric)


def guids(fabric: str) -> Kind:
    """Return the kind of the GUIDs of ``fabric``."""
    return Kind("guids", fabric)


def rail_prefixes(fabric: str) -> Kind:
    """Return the kind of the prefixes of the rails of ``fabric``."""
    return Kind("rail_prefixes", fabric)


class NumberKind(Struct):
    """Properties of a kind of number; lock files have the numbers as fields of an entry, or of `Freed`."""

    range: str
    """Key of the range in ``networks`` of the region, or in each of its ``fabrics``."""
    by_fabric: bool = False
    entry: type[VpcAllocation | ClusterAllocation] | None = None
    """Model of the lock file entry with such numbers; None if the number itself is an entry."""
    keys: tuple[str, ...] = ()
    """Keys of these numbers in the entry."""
    block: Callable[[Any], Block] = as_block
    """Function that returns the assignable numbers of a range."""
    value: Callable[[Block], Any] = lambda block: block.first
    """Function that converts an allocated block to its value in the lock file."""
    form: str = ""
    """Format of the number in messages."""
    unit: str = "addresses"
    """Plural noun for these numbers."""
    prefix_bits: int = 0
    """Address length in bits if the numbers are prefixes; else 0."""


def _address(block: Block) -> Address:
    return Address(block.first)


def _prefix(family: type[Network | Network6], bits: int, block: Block) -> Network | Network6:
    return family((block.first, bits - (block.size - 1).bit_length()))


def _guids(block: Block) -> GuidNumbers:
    return GuidNumbers(first=block.first, last=block.last)


NUMBER_KINDS = {
    "vnis": NumberKind(range="vni", unit="VNIs", entry=VpcAllocation, keys=("vni",)),
    "asns": NumberKind(range="asn", unit="ASNs", entry=VpcAllocation, keys=("asn",)),
    "route_targets": NumberKind(range="route_targets", unit="numbers", entry=VpcAllocation, keys=("route_target",)),
    "prefixes": NumberKind(
        range="tenants",
        entry=VpcAllocation,
        keys=(*PREFIXES, "more_prefixes"),
        value=partial(_prefix, Network, ADDRESS_BITS),
        prefix_bits=ADDRESS_BITS,
    ),
    "pkeys": NumberKind(range="pkeys", by_fabric=True, entry=VpcAllocation, keys=("pkeys",), form="#x", unit="PKeys"),
    "fabric_vnis": NumberKind(range="vnis", by_fabric=True, entry=VpcAllocation, keys=("fabric_vnis",), unit="VNIs"),
    "vips": NumberKind(
        range="control_plane_vips", entry=ClusterAllocation, keys=("vip",), block=hosts_of, value=_address
    ),
    "guids": NumberKind(
        range="guids", by_fabric=True, entry=ClusterAllocation, keys=("guids",), value=_guids, unit="GUIDs"
    ),
    "rail_prefixes": NumberKind(
        range="rail_prefixes",
        by_fabric=True,
        entry=ClusterAllocation,
        keys=("rail_prefixes",),
        value=partial(_prefix, Network, ADDRESS_BITS),
        prefix_bits=ADDRESS_BITS,
    ),
    "public_ips": NumberKind(range="public", block=hosts_of, value=_address),
    "prefixes_ipv6": NumberKind(
        range="tenants_ipv6",
        entry=VpcAllocation,
        keys=tuple(IPV6_PREFIXES.values()),
        value=partial(_prefix, Network6, IPV6_BITS),
        prefix_bits=IPV6_BITS,
    ),
}
"""Kinds of numbers, by their section of the quarantine."""
