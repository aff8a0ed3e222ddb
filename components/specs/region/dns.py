"""DNS settings: the name server for dynamic updates, the zone, and the key that signs updates."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import (
    DOMAIN,
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    Domain,
    IpAddress,
    Port,
    Spec,
)

Zone = Annotated[str, StringConstraints(pattern=DOMAIN, max_length=150)]
"""Domain whose length limit reserves space within the 253 characters of a name: 30 for a cluster, 63 for a Service,
and the prefix of the ownership record."""


class TsigAlgorithm(StrEnum):
    """TSIG algorithm for DNS updates: all secure algorithms that ExternalDNS supports."""

    HMAC_SHA256 = "hmac-sha256"
    """HMAC with SHA-256, which every name server supports (RFC 8945)."""
    HMAC_SHA384 = "hmac-sha384"
    """HMAC with SHA-384."""
    HMAC_SHA512 = "hmac-sha512"
    """HMAC with SHA-512."""


class NameServerSpec(Spec):
    """Name server that answers queries of clients for a zone."""

    name: Domain
    """Name of the name server, in the NS records of the zone. It must not be in the zone of a region."""
    address: IpAddress | None = None
    """Address of the name server. Required if the name is in the zone of the fleet, which then has a record of the
    name, and only possible there."""


class DnsSpec(CheckedSpec):
    """DNS zone for the names of a region, on a name server with dynamic updates (RFC 2136)."""

    zone: Zone
    """Zone for the updates, such as ``hall.cloud.example``. Services of a cluster have names below
    ``<cluster>.<zone>``. Control planes have names below ``control_planes.domain``, which must be within the zone."""
    server: IpAddress
    """Address of the zone's primary name server, over TCP."""
    port: Port = 53
    """Port of the name server for updates."""
    key_secret: DnsLabel = "dns-key"  # noqa: S105 - a name
    """Secret with the key that signs updates (TSIG): ``keyname``, and ``secret`` in base64. The Secret is required in
    the namespace of each cluster with names and in ``external-dns``. Tenant clusters do not contain it."""
    key_algorithm: TsigAlgorithm = TsigAlgorithm.HMAC_SHA256
    """Signature algorithm of the key."""
    name_servers: tuple[NameServerSpec, ...] = Field(default=(), max_length=13)
    """Name servers that answer queries of clients for the zone. Required if ``fleet.yaml`` has ``dns``: the zone of the
    fleet delegates the zone to them."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield name servers that are listed twice."""
        names = [server.name for server in self.name_servers]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield ConstraintViolation(f"'{name}' is listed twice; remove one", ("name_servers", index, "name"))
