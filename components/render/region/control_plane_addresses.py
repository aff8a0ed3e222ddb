"""Addresses of control planes: a MetalLB address pool, and its announcement by the management cluster."""

from __future__ import annotations

from components.render.control_planes.control_plane import ADDRESS_POOL, ZONE
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.region.announcements import AnnouncementSpec, BgpPeerSpec
from components.specs.region.region import RegionSpec


def render(region: RegionSpec, *, metallb: str) -> tuple[Manifest, ...]:
    """Return the address pool of ``region`` and its announcement; ``metallb`` is the namespace of address pools."""
    pool = manifest(
        "metallb.io/v1beta1",
        "IPAddressPool",
        ADDRESS_POOL,
        namespace=metallb,
        # Each control plane requests a specific address; no other Service may get one automatically.
        spec={"addresses": [str(region.networks.control_plane_vips)], "autoAssign": False},
    )
    return (pool, *_announced(region.control_planes.announcement, metallb))


def _announced(announcement: AnnouncementSpec | None, namespace: str) -> tuple[Manifest, ...]:
    pools = {"ipAddressPools": [ADDRESS_POOL]}
    # Only regions of stage rehearsal leave it out, and their simulated network is a single layer-2 network.
    if announcement is None or announcement.one_network:
        return (manifest("metallb.io/v1beta1", "L2Advertisement", ADDRESS_POOL, namespace=namespace, spec=pools),)
    sessions = tuple(_session(peer, announcement.asn, namespace) for peer in announcement.peers)
    spec = {**pools, "peers": [session.name for session in sessions]}
    return (*sessions, manifest("metallb.io/v1beta1", "BGPAdvertisement", ADDRESS_POOL, namespace=namespace, spec=spec))


def _session(peer: BgpPeerSpec, asn: int | None, namespace: str) -> Manifest:
    # Named by address: removing a router from the middle of the list ends only its own session.
    name = f"router-{str(peer.address).replace('.', '-')}"
    spec = {"myASN": asn, "peerASN": peer.asn, "peerAddress": str(peer.address)}
    in_zones = [{"key": ZONE, "operator": "In", "values": list(peer.zones)}]
    optional = given(
        ebgpMultiHop=peer.multihop or None,
        nodeSelectors=[{"matchExpressions": in_zones}] if peer.zones else None,
        passwordSecret={"name": peer.password_secret} if peer.password_secret else None,
    )
    return manifest("metallb.io/v1beta2", "BGPPeer", name, namespace=namespace, spec={**spec, **optional})
