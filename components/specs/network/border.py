"""Network edge of a region: border routers between VPCs and external networks."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.specs.base import CheckedSpec, Cidr, ConstraintViolation
from components.specs.region.announcements import Asn

TWO_BYTES = 65_535
RouteTarget = Annotated[int, Field(ge=1, le=4_294_967_295)]
"""Number of an EVPN route target, the part after the ASN."""


class BorderSpec(CheckedSpec):
    """Border routers between VPCs and external networks, and the routes that VPCs on DPUs import from them.

    With ``asn``, ``services`` and ``internet``, the border routers have one VRF for services that all VPCs reach and
    one VRF for the internet. VPCs import the routes of both VRFs by these route targets. Without these fields, the
    border routers have one VRF for each VPC, with the route target of the VPC. ``jacquard show ENV network --border``
    shows the required configuration in both cases. If border routers are declared, DPUs deny prefixes of other
    tenants, because the border routers have routes to all tenants.
    """

    asn: Asn | None = None
    """ASN in the route targets of the border routers. It must be outside ``networks.asn``, the range for VPCs."""
    services: RouteTarget | None = None
    """Number in the route target of routes to storage, control planes and ``networks``. All VPCs import it."""
    internet: RouteTarget | None = None
    """Number in the route target of the default route. VPCs with ``egress: public`` import it."""
    networks: tuple[Cidr, ...] = ()
    """External networks that every VPC reaches, such as those of DNS servers, registries and time servers."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield route targets that are incomplete, equal, or too large for their encoding."""
        values = {key: getattr(self, key) for key in ("asn", "services", "internet")}
        present = [key for key, value in values.items() if value is not None]
        for key in (key for key in values if present and key not in present):
            yield ConstraintViolation(f"is required with {' and '.join(present)}; add it", (key,))
        if self.internet is not None and self.internet == self.services:
            text = "equals services, so every VPC would import the default route; pick another number"
            yield ConstraintViolation(text, ("internet",), self.internet)
        for key in ("services", "internet"):
            if (self.asn or 0) > TWO_BYTES < (values[key] or 0):
                text = f"is above {TWO_BYTES}, the maximum in a route target with a four-byte asn"
                yield ConstraintViolation(f"{text}; pick another up to it", (key,), values[key])

    @property
    def targets(self) -> tuple[str, str] | None:
        """Return the route targets of services and the default route, ``<asn>:<number>``; None without ``asn``."""
        return None if self.asn is None else (f"{self.asn}:{self.services}", f"{self.asn}:{self.internet}")
