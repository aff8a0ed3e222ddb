"""The border: routers that route between VPCs and what lies outside them, as VPCs on DPUs know them by EVPN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.specs.announcements import Asn
from components.specs.base import CheckedSpec, Cidr, Misfit

TWO_BYTES = 65_535
RouteTarget = Annotated[int, Field(ge=1, le=4_294_967_295)]
"""Number that makes a route target of EVPN together with an ASN."""


class BorderSpec(CheckedSpec):
    """Route targets of the border's routes, which each VPC on DPUs imports beside its own.

    The border has a VRF for what all VPCs reach and one for the internet, and imports the route target of each VPC into
    them. Where the data name no border, it has a VRF of each VPC instead. ``jacquard show ENV network --border`` says
    what it must do in either case.
    """

    asn: Asn
    """First part of the border's route targets, outside ``networks.asn``, so that no VPC has them."""
    services: RouteTarget
    """Second part of the route target of routes to storage, control planes and ``networks``; all VPCs import it."""
    internet: RouteTarget
    """Second part of the route target of the default route, which VPCs with ``egress: public`` import."""
    networks: tuple[Cidr, ...] = ()
    """Networks behind the border that every VPC reaches, such as those of DNS, registries and clocks."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield route targets that are equal, or have no room for their numbers."""
        if self.internet == self.services:
            text = "is also services, and every VPC would get the default route; pick another number"
            yield Misfit(text, ("internet",), self.internet)
        for key in ("services", "internet"):
            number: int = getattr(self, key)
            if self.asn > TWO_BYTES < number:
                text = f"is beyond {TWO_BYTES}, the last number of a route target beside an asn of four bytes"
                yield Misfit(f"{text}; pick another up to it", (key,), number)

    @property
    def services_target(self) -> str:
        """Return the route target of what all VPCs reach, ``<asn>:<number>``."""
        return f"{self.asn}:{self.services}"

    @property
    def internet_target(self) -> str:
        """Return the route target of the default route, ``<asn>:<number>``."""
        return f"{self.asn}:{self.internet}"
