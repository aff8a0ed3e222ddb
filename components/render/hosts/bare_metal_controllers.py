"""Bare-metal operators with one Ironic each: one operator for all hosts, or one per shard of host namespaces.

A region without shards has a single release, which watches all namespaces. With shards this release remains, because it
contains the objects that a cluster can have only once: the CRDs and their admission webhooks. It then watches no hosts.
Each shard is an additional release of the same chart in a separate namespace, together with an Ironic.

Ironic serves only TLS, with a certificate that cert-manager issues and the operator trusts. The ramdisk on a host also
encrypts its traffic but verifies no certificate (``ipa-insecure``, ironic-image). The boot network of hosts must
therefore not be reachable from other networks.

The chart values are from the chart in the bare-metal operator's repository (``crd.enabled``, ``webhook.enabled``,
``envs``), which has no released version yet. The values are not verified against the chart that a version vector pins.
It is also not verified that the chart's Deployment has a list of arguments, to which flags without a chart value are
appended. Environment and flags are from the operator (0.13.2), Ironic's fields from its published schema
(ironic-standalone-operator 0.11). Ironic is not highly available, which would require MariaDB and exclude DHCP. If
Ironic loses its state, the operator registers all hosts again.

Ramdisks per architecture are an override, which requires a feature gate of Ironic's operator. Ironic selects the
ramdisk of a host by ``architecture`` of the BareMetalHost (``deploy_kernel_by_arch``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import MANAGEMENT_DOMAIN
from components.render.hosts.bare_metal_hosts import MACHINES
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.hosts.bare_metal import BareMetalSpec, BootMethod, Cleaning, DhcpSpec
from components.specs.hosts.ironic import IronicSpec
from components.specs.struct import Struct, field

CHART = "baremetal-operator"
IRONIC_CHART = "ironic-standalone-operator"
NAMESPACE = f"{CHART}-system"
IRONIC = "ironic"
PACE: Mapping[str, str] = {"--kube-api-qps": "100", "--kube-api-burst": "200"}
"""API request rate and burst of Metal3's controllers, equal to Cluster API's. Upstream's defaults (20 and 30) throttle
changes of a large pool for minutes."""
PROVISIONED_AT_ONCE = 20
"""Maximum number of network-booted hosts that an operator inspects, provisions or wipes in parallel
(``PROVISIONING_LIMIT``); further hosts are queued. Hosts with virtual media are neither limited nor counted."""
WORKERS = 16
"""Number of hosts that an operator reconciles in parallel, less than `PROVISIONED_AT_ONCE` as upstream recommends."""
_ERASE = {"group": "deploy", "name": "erase_devices_priority", "value": "5"}
"""Ironic configuration that enables self-erasure of disks, after erasure of their metadata (priority 10). Higher
priorities run first. The environment overrides the default of the image, 0
(metal3-io/ironic-image:ironic-config/ironic.conf.j2)."""
OVERRIDES = "--feature-gates=Overrides=true"
"""Flag of Ironic's operator that enables ``overrides`` of Ironic objects
(metal3-io/ironic-standalone-operator:api/v1alpha1/features.go)."""
_PACE = tuple(f"{flag}={value}" for flag, value in PACE.items())
_CERTIFICATE = f"{IRONIC}-tls"
"""Secret with Ironic's certificate and key, created by cert-manager."""

Watched = Mapping[str, tuple[str, ...]]
"""Namespaces of the hosts of each controller, by controller."""


class _Controller(Struct):
    """Bare-metal operator and its Ironic, with individual settings."""

    name: str
    namespace: str
    boot: BootMethod
    dhcp: DhcpSpec | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    """Labels of the management cluster's hosts on which Ironic can run; empty for any host."""

    @property
    def settings(self) -> dict[str, str]:
        """Return the environment of the operator, except its namespaces."""
        pace = {"BMO_CONCURRENCY": str(WORKERS), "PROVISIONING_LIMIT": str(PROVISIONED_AT_ONCE)}
        return pace if self.boot is BootMethod.NETWORK_BOOT else {**pace, "PROVISIONING_NETWORK_DISABLED": "true"}


def operators(metal: BareMetalSpec, watched: Watched) -> Iterator[Operator]:
    """Yield the common release, then one release per shard."""
    unsharded = not metal.controllers
    yield Operator(
        chart=CHART,
        namespace=NAMESPACE,
        depends_on=(CERT_MANAGER, IRONIC_CHART),
        # The bare-metal operator exits unless its settings contain the name or the address of an Ironic.
        values={
            "envs": _environment((), _controllers(metal)[0].settings) if unsharded else _environment((NAMESPACE,), {}),
        },
        flags=_PACE if unsharded else (),
    )
    for controller in () if unsharded else _controllers(metal):
        yield Operator(
            chart=CHART,
            name=controller.namespace,
            namespace=controller.namespace,
            depends_on=(CHART,),
            values={
                "crd": {"enabled": False},
                "webhook": {"enabled": False},
                # The controller's namespace is always included: an empty list means all namespaces.
                "envs": _environment((controller.namespace, *watched.get(controller.name, ())), controller.settings),
            },
            flags=("--webhook-port=0", *_PACE),
        )


def render(metal: BareMetalSpec, interface: str, ironic: IronicSpec | None) -> Iterator[Manifest]:
    """Yield the certificate and the Ironic of each controller.

    An Ironic without DHCP listens on ``interface``, a network interface of the management cluster's hosts. Without
    ``ironic``, the operator decides on its release and its ramdisk.
    """
    authority = metal.bmc_certificates.authority
    for controller in _controllers(metal):
        yield from _certificate(controller.namespace)
        yield manifest(
            "ironic.metal3.io/v1alpha1",
            "Ironic",
            IRONIC,
            namespace=controller.namespace,
            annotations=_digests(ironic),
            spec={
                **_pinned(ironic),
                "networking": _networking(controller.dhcp, metal.boot_interface, interface),
                "tls": {
                    "certificateName": _CERTIFICATE,
                    **given(bmcCA=authority and {"kind": "Secret", "name": authority}),
                },
                **given(
                    nodeSelector=controller.nodes, extraConfig=[_ERASE] if metal.cleaning is Cleaning.ERASE else []
                ),
            },
        )


def _pinned(ironic: IronicSpec | None) -> dict[str, Any]:
    """Return the release, its image and the ramdisks, with which Ironic downloads nothing at its start."""
    if ironic is None:
        return {}
    images = [
        {
            "architecture": MACHINES[ramdisk.architecture],
            "kernel": ramdisk.kernel_url,
            "initramfs": ramdisk.initramfs_url,
        }
        for ramdisk in ironic.ramdisks
    ]
    return {
        "version": ironic.version,
        "images": {"ironic": ironic.image},
        "deployRamdisk": {"disableDownloader": True},
        "overrides": {"agentImages": images},
    }


def _digests(ironic: IronicSpec | None) -> dict[str, str]:
    """Return the annotation with the digests of the ramdisks, each kernel before its initramfs."""
    if ironic is None:
        return {}
    return {keys.SHA256: " ".join(f"{item.kernel_sha256} {item.initramfs_sha256}" for item in ironic.ramdisks)}


def _certificate(namespace: str) -> Iterator[Manifest]:
    """Yield issuer and self-signed certificate of Ironic. The operator trusts the certificate in the Secret."""
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
    """Return the shards; without shards, the single controller of all hosts, which uses virtual media."""
    return tuple(
        _Controller(
            name=shard.name,
            namespace=shard_namespace(shard.name),
            boot=shard.boot,
            dhcp=shard.dhcp,
            nodes={keys.BARE_METAL_CONTROLLER: shard.name},
        )
        for shard in metal.controllers
    ) or (_Controller(name="", namespace=NAMESPACE, boot=BootMethod.VIRTUAL_MEDIA),)


def shard_namespace(controller: str) -> str:
    """Return the namespace of ``controller``, which is also the name of the release."""
    return f"{CHART}-{controller}"


def _environment(watched: tuple[str, ...], settings: Mapping[str, str]) -> list[dict[str, Any]]:
    namespace = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    texts = {"WATCH_NAMESPACE": ",".join(watched), "IRONIC_NAME": IRONIC, **settings}
    return [{"name": "POD_NAMESPACE", **namespace}, *({"name": name, "value": text} for name, text in texts.items())]


def _networking(dhcp: DhcpSpec | None, boot: str, media: str) -> dict[str, Any]:
    """Return the interface that Ironic listens on, with DHCP if configured. dnsmasq serves the interface's network."""
    return {"interface": media} if dhcp is None else {"interface": boot, "dhcp": _dhcp(dhcp)}


def _dhcp(dhcp: DhcpSpec) -> dict[str, str]:
    return {
        "networkCIDR": str(dhcp.network),
        "rangeBegin": str(dhcp.first),
        "rangeEnd": str(dhcp.last),
        **given(gatewayAddress=dhcp.gateway and str(dhcp.gateway)),
    }
