"""Fabrics of a region: networks between nodes outside the VPCs, with their limits."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import CheckedSpec, Cidr, ConstraintViolation, DnsLabel, Label
from components.specs.ranges import NumberRange, Numbers, range_reader

LAST_PKEY = 0x7FFE
"""Last valid partition key. Keys have 15 bits, and 0x7fff is the default partition of all ports."""
LAST_GUID = (1 << 64) - 1
_GUIDS = re.compile(r"0x[0-9a-f]{16}-0x[0-9a-f]{16}")


class GuidNumbers(NumberRange):
    """Inclusive range of InfiniBand GUIDs of 64 bits."""

    last: int = Field(ge=0, le=LAST_GUID)
    """Highest GUID of the range, included, 64 bits."""

    def __str__(self) -> str:
        """Return the range in the form of data files."""
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
"""Range of GUIDs, both ends included, ``"0x0002c90300a10000-0x0002c90300a1ffff"``."""


class FabricKind(StrEnum):
    """Technology of a fabric."""

    INFINIBAND = "infiniband"
    """The fabric is one InfiniBand subnet with a subnet manager. Each VPC gets a partition (PKey)."""
    ETHERNET = "ethernet"
    """The fabric has routed ports. Only the VPC isolates tenants, unless ``roce`` is set: then each VPC also has a VRF
    on the switches."""


LAST_VNI = 0xFFFFFF
"""Last VNI; VNIs have 24 bits."""
_RAILS = ("rails", "rail_prefixes")
FEW_RAILS = 8
"""Number of subnets in a prefix for rails, for fabrics with at most this number of rails."""
MOST_RAILS = 16
_CLASSES = 3
"""Number of low-order bits of a DSCP that do not select one of the eight classes."""


class RoceSpec(CheckedSpec):
    """RDMA over Ethernet (RoCE): packet marking and flow control, the same on adapters, switches and in pods.

    Adapters and switches trust the DSCP of packets, mark queued packets (ECN), and pause only one priority (PFC).
    """

    mtu_bytes: int = Field(ge=1500, le=9216)
    """MTU of the ports in bytes, including the IP header. The RDMA MTU is the largest of 1024, 2048 and 4096 bytes that
    fits into this MTU with the RDMA headers."""
    priority: int = Field(ge=0, le=7)
    """Priority of RDMA packets, which is lossless."""
    dscp: int = Field(ge=0, le=63)
    """DSCP of RDMA packets. It must be in the class of ``priority``: the 8 values that start at 8 times the
    priority."""
    cnp_dscp: int = Field(ge=0, le=63)
    """DSCP of congestion notification packets. It must be in another class than RDMA, which is never paused."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield DSCPs of the wrong class."""
        least = self.priority << _CLASSES
        if self.dscp >> _CLASSES != self.priority:
            rule = f"is not in the class of priority {self.priority}, whose DSCPs are {least} to {least + 7}"
            text = f"{rule}; write one of them"
            yield ConstraintViolation(text, ("dscp",), self.dscp)
        if self.cnp_dscp >> _CLASSES == self.priority:
            text = (
                f"is in the class of the lossless priority {self.priority}, which congestion pauses; write a value"
                f" outside {least} to {least + 7}, such as 48"
            )
            yield ConstraintViolation(text, ("cnp_dscp",), self.cnp_dscp)

    def __str__(self) -> str:
        """Return the settings in the form of data files."""
        return "{" + ", ".join(f"{name}: {value}" for name, value in self) + "}"


class FabricSpec(CheckedSpec):
    """Network that connects the nodes of some halls at full bandwidth. Training jobs do not span fabrics."""

    name: DnsLabel
    """Name of the fabric, referenced by ``fabrics`` of a VPC."""
    kind: FabricKind
    """Technology of the fabric, which determines the isolation of tenants on it."""
    halls: tuple[Label, ...] = ()
    """Halls that the fabric connects; all halls of the region when the list is empty."""
    pkeys: Numbers | None = Field(default=None, examples=[f"0x1-{LAST_PKEY:#x}"])
    """Partition keys to allocate to VPCs of this region, 15 bits, ``0x1-0x7ffe`` at most (0x7fff is the default
    partition). Required for InfiniBand."""
    guids: GuidRange | None = None
    """GUIDs for virtual functions, allocated in ranges to the clusters on the fabric. Required for InfiniBand."""
    ufm_secret: DnsLabel | None = None
    """Secret with UFM_ADDRESS, UFM_USERNAME, UFM_PASSWORD and UFM_CERTIFICATE in the namespace of each cluster. Without
    UFM_CERTIFICATE the fabric manager (UFM) is not verified. The field is a reference, never a value."""
    roce: RoceSpec | None = None
    """RoCE settings of an Ethernet fabric whose switches isolate VPCs. Golden images configure the same settings on
    adapters (``contents.roce``). By default only the DPUs isolate VPCs."""
    vnis: Numbers | None = Field(default=None, examples=["40000-40999"])
    """VNIs for the VRFs of VPCs on the switches of an Ethernet fabric with ``roce``, 24 bits."""
    rails: int | None = Field(default=None, ge=1, le=MOST_RAILS, examples=[8])
    """Number of rails of an Ethernet fabric with ``roce``: port 0 of each host is on rail 0, port 1 on rail 1. This
    field is required where pods get virtual functions of ports."""
    rail_prefixes: Cidr | None = None
    """Network for pod addresses on rails. Each cluster with such pods gets a prefix with one subnet per rail. This
    field is required with ``rails``. The network must be disjoint from all networks of the region."""
    max_hosts: int = Field(ge=1, le=100_000)
    """Maximum number of hosts that the switches can connect."""

    @property
    def isolates_vpcs(self) -> bool:
        """Return whether the fabric isolates VPCs, by partitions or VRFs."""
        return self.kind is FabricKind.INFINIBAND or self.roce is not None

    @property
    def rail_subnets(self) -> int:
        """Return the number of subnets in a new prefix for rails: 8, or 16 for more than 8 rails."""
        return FEW_RAILS if (self.rails or 1) <= FEW_RAILS else MOST_RAILS

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing fields, fields without effect on this kind of fabric, and invalid ranges."""
        yield from self._roce_violations()
        for name in ("pkeys", "guids", "ufm_secret"):
            value = getattr(self, name)
            if self.kind is FabricKind.INFINIBAND and value is None:
                yield ConstraintViolation("is required for an infiniband fabric; add it", (name,))
            elif self.kind is FabricKind.ETHERNET and value is not None:
                yield ConstraintViolation("has no effect on an ethernet fabric; remove it", (name,), str(value))
        if self.pkeys and not 1 <= self.pkeys.first <= self.pkeys.last <= LAST_PKEY:
            yield ConstraintViolation(
                "has partition keys outside 0x1-0x7ffe; write a range within",
                ("pkeys",),
                f"{self.pkeys.first:#x}-{self.pkeys.last:#x}",
            )

    def _roce_violations(self) -> Iterator[ConstraintViolation]:
        if self.kind is FabricKind.INFINIBAND:
            for name in ("roce", "vnis", *_RAILS):
                if (value := getattr(self, name)) is not None:
                    yield ConstraintViolation("has no effect on an infiniband fabric; remove it", (name,), str(value))
            return
        if self.roce is not None and self.vnis is None:
            yield ConstraintViolation("is required for an ethernet fabric with roce; add it", ("vnis",))
        for name in ("vnis", *_RAILS) if self.roce is None else ():
            if (value := getattr(self, name)) is not None:
                yield ConstraintViolation("has no effect on a fabric without roce; remove it", (name,), str(value))
        for name, other in (_RAILS, _RAILS[::-1]) if self.roce is not None else ():
            if getattr(self, name) is None and getattr(self, other) is not None:
                yield ConstraintViolation(f"is required on a fabric with {other}; add it", (name,))
        if self.vnis and not 1 <= self.vnis.first <= self.vnis.last <= LAST_VNI:
            yield ConstraintViolation(f"has VNIs outside 1-{LAST_VNI}; write a range within", ("vnis",), str(self.vnis))
