"""The bare-metal operators of a region: one with its own Ironic for all hosts, or one each for some namespaces.

A region without shards has one release, which watches all namespaces. With shards that release stays, for what is there
once in a cluster: the kinds and their admission. It then watches no hosts. Each shard is another release of the same
chart in a namespace of its own, where its Ironic is.

Ironic is reached by TLS only, with a certificate that cert-manager makes and the operator trusts. The ramdisk on a host
encrypts what it says too, but verifies nobody (``ipa-insecure``, ironic-image), so the network in which hosts boot is
closed to all others.

Values are those of the chart in the bare-metal operator's repository (``crd.enabled``, ``webhook.enabled``, ``envs``),
which has been released under no version yet: they are not verified against the chart that a version vector pins, and
neither is that its Deployment lists arguments, to which flags without a value of the chart are added. Environment and
flags are the operator's own (0.13.2), Ironic's fields those of its published schema (ironic-standalone-operator 0.11).
Ironic is not highly available: that needs MariaDB beside it and rules DHCP out. What it forgets the operator tells it
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import MANAGEMENT_DOMAIN
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.hosts.bare_metal import BareMetalSpec, BootMethod, Cleaning, DhcpSpec

CHART = "baremetal-operator"
IRONIC_CHART = "ironic-standalone-operator"
NAMESPACE = f"{CHART}-system"
IRONIC = "ironic"
PACE: Mapping[str, str] = {"--kube-api-qps": "100", "--kube-api-burst": "200"}
"""Queries a second of Metal3's controllers, as Cluster API's own; upstream's 20 and 30 throttle a large pool for
minutes."""
PROVISIONED_AT_ONCE = 20
"""Hosts that boot from the network which an operator inspects, provisions or wipes at the same time
(``PROVISIONING_LIMIT``); others wait for their turn. Those with virtual media wait for nobody, nor for them."""
WORKERS = 16
"""Hosts that an operator looks at side by side: fewer than it provisions at once, as upstream advises."""
_ERASE = {"group": "deploy", "name": "erase_devices_priority", "value": "5"}
"""Ironic's configuration by which disks erase themselves, after their metadata (10), since higher goes first. Its image
says 0 (metal3-io/ironic-image:ironic-config/ironic.conf.j2), which the environment overrides."""
_PACE = tuple(f"{flag}={value}" for flag, value in PACE.items())
_CERTIFICATE = f"{IRONIC}-tls"
"""Secret of Ironic's certificate and its key, which cert-manager makes."""

Watched = Mapping[str, tuple[str, ...]]
"""Namespaces of the hosts that each controller has, by controller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Controller:
    """A bare-metal operator and its Ironic, with what is its own."""

    name: str
    namespace: str
    boot: BootMethod
    dhcp: DhcpSpec | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    """Labels of the hosts of the management cluster that its Ironic runs on; any will do when there are none."""

    @property
    def settings(self) -> dict[str, str]:
        """Return what the operator is told beside whose hosts it has."""
        pace = {"BMO_CONCURRENCY": str(WORKERS), "PROVISIONING_LIMIT": str(PROVISIONED_AT_ONCE)}
        return pace if self.boot is BootMethod.NETWORK_BOOT else {**pace, "PROVISIONING_NETWORK_DISABLED": "true"}


def operators(metal: BareMetalSpec, watched: Watched) -> Iterator[Operator]:
    """Yield the release for all, then one a shard."""
    alone = not metal.controllers
    yield Operator(
        chart=CHART,
        namespace=NAMESPACE,
        depends_on=(CERT_MANAGER, IRONIC_CHART),
        # Without the name of an Ironic it asks for the address of one, and ends where there is none.
        values={
            "envs": _environment((), _controllers(metal)[0].settings) if alone else _environment((NAMESPACE,), {}),
        },
        flags=_PACE if alone else (),
    )
    for one in () if alone else _controllers(metal):
        yield Operator(
            chart=CHART,
            name=one.namespace,
            namespace=one.namespace,
            depends_on=(CHART,),
            values={
                "crd": {"enabled": False},
                "webhook": {"enabled": False},
                # Its own namespace first: a controller that is given no namespace watches all.
                "envs": _environment((one.namespace, *watched.get(one.name, ())), one.settings),
            },
            flags=("--webhook-port=0", *_PACE),
        )


def render(metal: BareMetalSpec, interface: str) -> Iterator[Manifest]:
    """Yield the Ironic of each controller, after its certificate.

    ``interface`` is what one listens on that leases no addresses, on the hosts of the management cluster that it may
    run on.
    """
    authority = metal.bmc_certificates.authority
    for one in _controllers(metal):
        yield from _certificate(one.namespace)
        yield manifest(
            "ironic.metal3.io/v1alpha1",
            "Ironic",
            IRONIC,
            namespace=one.namespace,
            spec={
                "networking": _networking(one.dhcp, metal.boot_interface, interface),
                "tls": {
                    "certificateName": _CERTIFICATE,
                    **given(bmcCA=authority and {"kind": "Secret", "name": authority}),
                },
                **given(nodeSelector=one.nodes, extraConfig=[_ERASE] if metal.cleaning is Cleaning.ERASE else []),
            },
        )


def _certificate(namespace: str) -> Iterator[Manifest]:
    """Yield what makes Ironic's certificate; the operator trusts what is in its Secret, so it signs itself."""
    yield manifest("cert-manager.io/v1", "Issuer", IRONIC, namespace=namespace, spec={"selfSigned": {}})
    names = [f"{IRONIC}.{namespace}.svc", f"{IRONIC}.{namespace}.{MANAGEMENT_DOMAIN}"]
    yield manifest(
        "cert-manager.io/v1",
        "Certificate",
        IRONIC,
        namespace=namespace,
        spec={
            "secretName": _CERTIFICATE,
            "commonName": IRONIC,
            "dnsNames": names,
            "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": IRONIC},
        },
    )


def _controllers(metal: BareMetalSpec) -> tuple[_Controller, ...]:
    """Return the shards; without any, the one controller of all hosts, which attaches media."""
    return tuple(
        _Controller(
            name=one.name,
            namespace=shard_namespace(one.name),
            boot=one.boot,
            dhcp=one.dhcp,
            nodes={keys.BARE_METAL_CONTROLLER: one.name},
        )
        for one in metal.controllers
    ) or (_Controller(name="", namespace=NAMESPACE, boot=BootMethod.VIRTUAL_MEDIA),)


def shard_namespace(controller: str) -> str:
    """Return the namespace of ``controller``, which its release is called after."""
    return f"{CHART}-{controller}"


def _environment(watched: tuple[str, ...], settings: Mapping[str, str]) -> list[dict[str, Any]]:
    own = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    texts = {"WATCH_NAMESPACE": ",".join(watched), "IRONIC_NAME": IRONIC, **settings}
    return [{"name": "POD_NAMESPACE", **own}, *({"name": name, "value": text} for name, text in texts.items())]


def _networking(dhcp: DhcpSpec | None, boot: str, media: str) -> dict[str, Any]:
    """Return where Ironic listens: dnsmasq serves the network of its own interface first."""
    return {"interface": media} if dhcp is None else {"interface": boot, "dhcp": _dhcp(dhcp)}


def _dhcp(dhcp: DhcpSpec) -> dict[str, str]:
    return {
        "networkCIDR": str(dhcp.network),
        "rangeBegin": str(dhcp.first),
        "rangeEnd": str(dhcp.last),
        **given(gatewayAddress=dhcp.gateway and str(dhcp.gateway)),
    }
