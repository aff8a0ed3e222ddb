"""The border of a region: routers between VPCs and what lies outside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.specs.base import CheckedSpec, Cidr, Misfit
from components.specs.region.announcements import Asn

TWO_BYTES = 65_535
RouteTarget = Annotated[int, Field(ge=1, le=4_294_967_295)]
"""Number that makes a route target of EVPN together with an ASN."""


class BorderSpec(CheckedSpec):
    """Routers between VPCs and what lies outside, and how VPCs on DPUs get the routes there.

    With ``asn``, ``services`` and ``internet`` the border has a VRF for what all VPCs reach and one for the internet,
    which VPCs import by these route targets. Without them it has a VRF of each VPC, with the VPC's own route target.
    ``jacquard show ENV network --border`` says what it must do in either case. DPUs deny other tenants' prefixes
    wherever a border is named, since it has routes to all of them.
    """

    asn: Asn | None = None
    """First part of the border's route targets, outside ``networks.asn``, so that no VPC has them."""
    services: RouteTarget | None = None
    """Second part of the route target of routes to storage, control planes and ``networks``; all VPCs import it."""
    internet: RouteTarget | None = None
    """Second part of the route target of the default route, which VPCs with ``egress: public`` import."""
    networks: tuple[Cidr, ...] = ()
    """Networks behind the border that every VPC reaches, such as those of DNS, registries and clocks."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield route targets that are not whole, are equal, or have no room for their numbers."""
        values = {key: getattr(self, key) for key in ("asn", "services", "internet")}
        given = [key for key, value in values.items() if value is not None]
        for key in (key for key in values if given and key not in given):
            yield Misfit(f"is required with {' and '.join(given)}; add it", (key,))
        if self.internet is not None and self.internet == self.services:
            text = "is also services, and every VPC would get the default route; pick another number"
            yield Misfit(text, ("internet",), self.internet)
        for key in ("services", "internet"):
            if (self.asn or 0) > TWO_BYTES < (values[key] or 0):
                text = f"is beyond {TWO_BYTES}, the last number of a route target beside an asn of four bytes"
                yield Misfit(f"{text}; pick another up to it", (key,), values[key])

    @property
    def targets(self) -> tuple[str, str] | None:
        """Return the route targets of services and of the default route, ``<asn>:<number>``; None where VPCs' do."""
        return None if self.asn is None else (f"{self.asn}:{self.services}", f"{self.asn}:{self.internet}")
