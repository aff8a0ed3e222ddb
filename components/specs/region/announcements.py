"""Announcement of control plane addresses by the management cluster, with BGP to routers or ARP in one network."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, IpAddress, Label, Spec

Asn = Annotated[int, Field(ge=1, le=4_294_967_294)]
"""BGP autonomous system number; the last one is reserved (RFC 7300)."""


class BgpPeerSpec(Spec):
    """Router with BGP sessions to hosts of the management cluster."""

    address: IpAddress
    """Address of the router, in ``networks.management``, or any address with ``multihop``."""
    asn: Asn
    """ASN of the router, outside ``networks.asn``."""
    multihop: bool = False
    """Whether other routers are between this router and the hosts. Its ASN must then differ from the ASN of the
    hosts."""
    zones: tuple[Label, ...] = ()
    """Zones (values of ``topology.kubernetes.io/zone``, usually racks) whose hosts open a session, for a router that
    only these hosts can reach. By default every host opens a session."""
    password_secret: DnsLabel | None = None
    """Secret in the ``metallb-system`` namespace with the ``password`` that signs the session (TCP MD5). MetalLB
    requires type ``kubernetes.io/basic-auth``. By default sessions are not signed. The field is a reference, never a
    value."""


class AnnouncementSpec(CheckedSpec):
    """Announcement of the addresses of ``networks.control_plane_vips``, by either ``peers`` or ``one_network``."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["asn", "peers"]}, {"required": ["one_network"]}]}
    )

    asn: Asn | None = None
    """ASN of the management cluster's hosts, outside ``networks.asn``. Required with ``peers``."""
    peers: tuple[BgpPeerSpec, ...] = ()
    """Routers to which all hosts announce each address. With two routers, one can fail."""
    one_network: bool = False
    """Whether the hosts of the management cluster are in the same network (VLAN) as these addresses. One host then
    answers ARP requests for each address."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing or conflicting announcement methods, and sessions that MetalLB rejects."""
        if not self.peers and not self.one_network:
            yield ConstraintViolation(
                "has neither peers nor one_network, so control planes are not reachable; add asn and the routers as"
                " peers, or one_network: true if hosts of the management cluster and these addresses share one VLAN"
            )
        if self.peers and self.one_network:
            yield ConstraintViolation(
                "cannot be combined with peers, because addresses of the hosts' own network need no route;"
                " remove one of the two",
                ("one_network",),
                self.one_network,
            )
        if self.peers and self.asn is None:
            yield ConstraintViolation(
                "is required with peers; add the number of the management cluster's hosts", ("asn",)
            )
        if self.asn is not None and not self.peers:
            yield ConstraintViolation("has no effect without peers; add them, or remove it", ("asn",), self.asn)
        seen = set[object]()
        for index, peer in enumerate(self.peers):
            if peer.address in seen:
                text = "is already listed, and MetalLB rejects a second session with one router; pick another address"
                yield ConstraintViolation(text, ("peers", index, "address"), str(peer.address))
            seen.add(peer.address)
            if peer.multihop and peer.asn == self.asn:
                text = "is only for routers with another asn, and MetalLB rejects it for this one; remove it"
                yield ConstraintViolation(text, ("peers", index, "multihop"), peer.multihop)
            for place, zone in enumerate(peer.zones):
                if zone in peer.zones[:place]:
                    yield ConstraintViolation("is already listed; remove it", ("peers", index, "zones", place), zone)
