"""How the management cluster announces addresses of control planes: by BGP to routers, or by ARP in one network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field

from components.specs.base import CheckedSpec, DnsLabel, IpAddress, Label, Misfit, Spec

Asn = Annotated[int, Field(ge=1, le=4_294_967_294)]
"""A number for BGP; the last one there is stands for none (RFC 7300)."""


class BgpPeerSpec(Spec):
    """A router that hosts of the management cluster open BGP sessions with."""

    address: IpAddress
    """Address of the router: one of ``networks.management``, or any with ``multihop``."""
    asn: Asn
    """Number of the router, outside ``networks.asn``."""
    multihop: bool = False
    """Whether other routers lie between it and hosts; its number is then another than theirs."""
    zones: tuple[Label, ...] = ()
    """Values of ``topology.kubernetes.io/zone`` of the hosts that open a session, racks as a rule, for a router that
    only they reach; every host opens one when they are left out."""
    password_secret: DnsLabel | None = None
    """Secret in the ``metallb-system`` namespace whose ``password`` signs the session (TCP MD5), of type
    ``kubernetes.io/basic-auth`` (MetalLB's rule); sessions are not signed when it is left out. It is a reference, never
    a value."""


class AnnouncementSpec(CheckedSpec):
    """How addresses of ``networks.control_plane_vips`` are announced: ``peers`` or ``one_network``, never both."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["asn", "peers"]}, {"required": ["one_network"]}]}
    )

    asn: Asn | None = None
    """Number of the management cluster's hosts, outside ``networks.asn``; required with ``peers``."""
    peers: tuple[BgpPeerSpec, ...] = ()
    """Routers that all hosts announce each address to; with two of them, one may fail."""
    one_network: bool = False
    """Whether hosts of the management cluster are in the network of these addresses themselves (one VLAN), where one
    of them answers for each by ARP. Nobody finds the addresses where that is not so."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an announcement by both ways or by neither, and sessions that MetalLB refuses."""
        if not self.peers and not self.one_network:
            yield Misfit(
                "has neither peers nor one_network, so nobody finds a control plane; add asn and the routers as peers,"
                " or one_network: true if hosts of the management cluster and these addresses share one VLAN"
            )
        if self.peers and self.one_network:
            yield Misfit(
                "excludes peers, since addresses of the hosts' own network need no route; remove one of the two",
                ("one_network",),
                self.one_network,
            )
        if self.peers and self.asn is None:
            yield Misfit("is required with peers; add the number of the management cluster's hosts", ("asn",))
        if self.asn is not None and not self.peers:
            yield Misfit("has no meaning without peers; add them, or remove it", ("asn",), self.asn)
        seen = set[object]()
        for index, peer in enumerate(self.peers):
            if peer.address in seen:
                text = "is already listed, and MetalLB refuses a second session with one router; pick another address"
                yield Misfit(text, ("peers", index, "address"), str(peer.address))
            seen.add(peer.address)
            if peer.multihop and peer.asn == self.asn:
                text = "is for routers with another asn, and MetalLB refuses it for this one; remove it"
                yield Misfit(text, ("peers", index, "multihop"), peer.multihop)
            for place, zone in enumerate(peer.zones):
                if zone in peer.zones[:place]:
                    yield Misfit("is already listed; remove it", ("peers", index, "zones", place), zone)
