"""The fabrics of a region: networks between nodes beside the VPCs, with the limits of one fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import CheckedSpec, DnsLabel, Label, Misfit
from components.specs.ranges import NumberRange, Numbers, range_reader

LAST_PKEY = 0x7FFE
"""Partition keys have 15 bits; 0x7fff is the default partition of all ports."""
_GUIDS = re.compile(r"0x[0-9a-f]{16}-0x[0-9a-f]{16}")


class GuidNumbers(NumberRange):
    """An inclusive range of InfiniBand GUIDs, 64 bits each."""

    last: int = Field(ge=0, lt=1 << 64)
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
    """The fabric has routed ports, and tenants are told apart by the VPC alone."""


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
    max_hosts: int = Field(ge=1, le=100_000)
    """Most hosts that the switches can connect."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what InfiniBand needs and does not have, or Ethernet has and does not need."""
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
