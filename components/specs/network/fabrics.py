"""The fabrics of a region: networks between nodes beside the VPCs, with the limits of one fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import CheckedSpec, Cidr, DnsLabel, Label, Misfit
from components.specs.ranges import NumberRange, Numbers, range_reader

LAST_PKEY = 0x7FFE
"""Partition keys have 15 bits; 0x7fff is the default partition of all ports."""
LAST_GUID = (1 << 64) - 1
_GUIDS = re.compile(r"0x[0-9a-f]{16}-0x[0-9a-f]{16}")


class GuidNumbers(NumberRange):
    """An inclusive range of InfiniBand GUIDs, 64 bits each."""

    last: int = Field(ge=0, le=LAST_GUID)
    """Highest GUID of the range, included, 64 bits."""

    def __str__(self) -> str:
        """Return the range as it is written in data."""
        return f"{self.first:#018x}-{self.last:#018x}"


GuidRange = Annotated[
    GuidNumbers,
    BeforeValidator(
        range_reader(
            GuidNumbers,
            _GUIDS,
            'must be a range of GUIDs like "0x0002c90300a10000-0x0002c90300a1ffff"',
            "must go upwards; write the lower GUID first",
        )
    ),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_GUIDS.pattern}$", "examples": ["0x0002c90300a10000-0x0002c90300a1ffff"]}
    ),
]
"""A range of GUIDs, both ends included, ``"0x0002c90300a10000-0x0002c90300a1ffff"``."""


class FabricKind(StrEnum):
    """Technology of a fabric."""

    INFINIBAND = "infiniband"
    """The fabric is one subnet with its subnet manager, and a VPC gets a partition (PKey) on it."""
    ETHERNET = "ethernet"
    """The fabric has routed ports. Tenants are told apart on it by the VPC alone, or, with ``roce``, by a VRF of each
    VPC on the switches."""


LAST_VNI = 0xFFFFFF
"""VNIs have 24 bits."""
_RAILS = ("rails", "rail_prefixes")
FEW_RAILS = 8
"""Subnets that a prefix of rails is cut into on a fabric with no more rails than these."""
MOST_RAILS = 16
_CLASSES = 3
"""Bits of a DSCP, its lower ones, that do not say which of eight classes a packet is of."""


class RoceSpec(CheckedSpec):
    """How packets of RDMA over Ethernet (RoCE) are carried: the same on adapters, switches and in pods.

    Adapters and switches trust the DSCP of a packet, mark what they queue (ECN), and pause one priority alone (PFC).
    """

    mtu_bytes: int = Field(ge=1500, le=9216)
    """Largest packet on the ports, IP header included. RDMA itself sends the largest of 1024, 2048 and 4096 bytes that
    fits with its headers."""
    priority: int = Field(ge=0, le=7)
    """Priority of RDMA, the one that is lossless."""
    dscp: int = Field(ge=0, le=63)
    """DSCP of RDMA's packets, of the class ``priority``: 8 values begin at 8 times the priority."""
    cnp_dscp: int = Field(ge=0, le=63)
    """DSCP of the packets that tell a sender of congestion, of another class, which nothing pauses."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield packets that would come into the wrong class."""
        least = self.priority << _CLASSES
        if self.dscp >> _CLASSES != self.priority:
            text = f"is not of priority {self.priority}, whose DSCPs are {least} to {least + 7}; write one of them"
            yield Misfit(text, ("dscp",), self.dscp)
        if self.cnp_dscp >> _CLASSES == self.priority:
            text = (
                f"is of the lossless priority {self.priority}, where news of congestion would wait for it to end; write"
                f" one outside {least} to {least + 7}, such as 48"
            )
            yield Misfit(text, ("cnp_dscp",), self.cnp_dscp)

    def __str__(self) -> str:
        """Return the settings as data write them."""
        return "{" + ", ".join(f"{name}: {value}" for name, value in self) + "}"


class FabricSpec(CheckedSpec):
    """A network that connects the nodes of some halls at full rate. Training jobs do not span fabrics."""

    name: DnsLabel
    """Name of the fabric, which ``fabrics`` of a VPC refers to."""
    kind: FabricKind
    """Technology of the fabric, which decides how tenants are told apart on it."""
    halls: tuple[Label, ...] = ()
    """Halls the fabric reaches; it reaches all halls of the region when none is listed."""
    pkeys: Numbers | None = Field(default=None, examples=[f"0x1-{LAST_PKEY:#x}"])
    """Partition keys that VPCs get from this region, 15 bits, ``0x1-0x7ffe`` at most (0x7fff is the default partition).
    They are required for InfiniBand."""
    guids: GuidRange | None = None
    """GUIDs that virtual functions get, shared out among the clusters on the fabric; required for InfiniBand."""
    ufm_secret: DnsLabel | None = None
    """Secret in the namespace of each cluster's name, with UFM_ADDRESS, UFM_USERNAME, UFM_PASSWORD and UFM_CERTIFICATE,
    without which the fabric manager (UFM) is not verified. It is a reference, never a value."""
    roce: RoceSpec | None = None
    """How RDMA is carried on an Ethernet fabric whose switches keep VPCs apart; golden images set adapters the same
    (``contents.roce``). VPCs are told apart by their DPUs alone when it is left out."""
    vnis: Numbers | None = Field(default=None, examples=["40000-40999"])
    """Numbers of the VRFs that VPCs get on the switches of an Ethernet fabric with ``roce``, 24 bits."""
    rails: int | None = Field(default=None, ge=1, le=MOST_RAILS, examples=[8])
    """Number of rails of an Ethernet fabric with ``roce``: port 0 of each host is on rail 0, port 1 on rail 1. Required
    where pods get virtual functions of ports."""
    rail_prefixes: Cidr | None = None
    """Addresses of pods on rails: each cluster with such pods gets a prefix of them, cut into one subnet a rail. It is
    required with ``rails``, and disjoint from all networks of the region."""
    max_hosts: int = Field(ge=1, le=100_000)
    """Most hosts that the switches can connect."""

    @property
    def tells_apart(self) -> bool:
        """Tell whether the fabric itself keeps VPCs apart, by partitions or by VRFs."""
        return self.kind is FabricKind.INFINIBAND or self.roce is not None

    @property
    def rail_subnets(self) -> int:
        """Return how many subnets a new prefix of rails is cut into: 8, or 16 for more rails."""
        return FEW_RAILS if (self.rails or 1) <= FEW_RAILS else MOST_RAILS

    def misfits(self) -> Iterator[Misfit]:
        """Yield what InfiniBand or RoCE needs and does not have, or has and does not need."""
        yield from self._roce_misfits()
        for name in ("pkeys", "guids", "ufm_secret"):
            value = getattr(self, name)
            if self.kind is FabricKind.INFINIBAND and value is None:
                yield Misfit("is required for an infiniband fabric; add it", (name,))
            elif self.kind is FabricKind.ETHERNET and value is not None:
                yield Misfit("has no meaning on an ethernet fabric; remove it", (name,), str(value))
        if self.pkeys and not 1 <= self.pkeys.first <= self.pkeys.last <= LAST_PKEY:
            yield Misfit(
                "has partition keys outside 0x1-0x7ffe; write a range within",
                ("pkeys",),
                f"{self.pkeys.first:#x}-{self.pkeys.last:#x}",
            )

    def _roce_misfits(self) -> Iterator[Misfit]:
        if self.kind is FabricKind.INFINIBAND:
            for name in ("roce", "vnis", *_RAILS):
                if (value := getattr(self, name)) is not None:
                    yield Misfit("has no meaning on an infiniband fabric; remove it", (name,), str(value))
            return
        if self.roce is not None and self.vnis is None:
            yield Misfit("is required for an ethernet fabric with roce; add it", ("vnis",))
        for name in ("vnis", *_RAILS) if self.roce is None else ():
            if (value := getattr(self, name)) is not None:
                yield Misfit("has no meaning on a fabric without roce; remove it", (name,), str(value))
        for name, other in (_RAILS, _RAILS[::-1]) if self.roce is not None else ():
            if getattr(self, name) is None and getattr(self, other) is not None:
                yield Misfit(f"is required on a fabric with {other}; add it", (name,))
        if self.vnis and not 1 <= self.vnis.first <= self.vnis.last <= LAST_VNI:
            yield Misfit(f"has VNIs outside 1-{LAST_VNI}; write a range within", ("vnis",), str(self.vnis))
