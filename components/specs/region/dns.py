"""Names in the DNS: the name server that takes updates, the zone that it takes them of, and the key that signs them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import DOMAIN, DnsLabel, IpAddress, Port, Spec

Zone = Annotated[str, StringConstraints(pattern=DOMAIN, max_length=150)]
"""Domain that leaves room: 30 characters for a cluster, 63 for a Service, and the record beside that says whose a name
is, within the 253 of a name."""


class TsigAlgorithm(StrEnum):
    """How messages to a name server are signed (TSIG); of what ExternalDNS knows, what is not broken."""

    HMAC_SHA256 = "hmac-sha256"
    """HMAC with SHA-256, which every name server knows (RFC 8945)."""
    HMAC_SHA384 = "hmac-sha384"
    """HMAC with SHA-384."""
    HMAC_SHA512 = "hmac-sha512"
    """HMAC with SHA-512."""


class DnsSpec(Spec):
    """Who takes names of a region: a zone of a name server that is updated by RFC 2136."""

    zone: Zone
    """Zone that the name server takes updates of, such as ``hall.cloud.example``. Services of a cluster have
    names below ``<cluster>.<zone>``, control planes below ``control_planes.domain``, which is within the zone."""
    server: IpAddress
    """Address of the zone's primary name server, over TCP."""
    port: Port = 53
    """Port at which the name server takes updates."""
    key_secret: DnsLabel = "dns-key"  # noqa: S105 - a name
    """Secret with the key that signs updates (TSIG): ``keyname``, and ``secret`` in base 64. It is in the namespace of
    each cluster that has names, and in ``external-dns``; no tenant's cluster has it."""
    key_algorithm: TsigAlgorithm = TsigAlgorithm.HMAC_SHA256
    """Algorithm of that key."""
