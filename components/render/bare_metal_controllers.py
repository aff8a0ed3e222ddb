"""The bare-metal operators of a region with shards: one controller with its own Ironic for some namespaces each.

The release that a region without shards has stays, for what is there once in a cluster: the kinds and their admission.
It watches no hosts. Each shard is another release of the same chart in a namespace of its own, where its Ironic is.

Values are those of the chart in the bare-metal operator's repository (``crd.enabled``, ``webhook.enabled``, ``envs``),
which has been released under no version yet: they are not verified against the chart that a version vector pins, and
neither is that its Deployment lists arguments, to which flags without a value of the chart are added. Environment and
flags are the operator's own (0.13.2), Ironic's fields those of its published schema (ironic-standalone-operator 0.11).
Ironic is not highly available: that needs MariaDB beside it and rules DHCP out. What it forgets the operator tells it
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.operators import CERT_MANAGER, Operator
from components.specs.bare_metal import BootMethod, ControllerSpec, DhcpSpec

CHART = "baremetal-operator"
IRONIC_CHART = "ironic-standalone-operator"
NAMESPACE = f"{CHART}-system"
IRONIC = "ironic"
PACE: Mapping[str, str] = {"--kube-api-qps": "100", "--kube-api-burst": "200"}
"""Queries a second of Metal3's controllers, as Cluster API's own; upstream's 20 and 30 throttle a large pool for
minutes."""
PROVISIONED_AT_ONCE = 20
"""Hosts that an operator provisions or gives back at the same time (``PROVISIONING_LIMIT``); others wait their turn."""
WORKERS = 16
"""Hosts that an operator looks at side by side: fewer than it provisions at once, as upstream advises."""

Watched = Mapping[str, tuple[str, ...]]
"""Namespaces of the hosts that each controller has, by controller."""


def operators(controllers: tuple[ControllerSpec, ...], watched: Watched) -> Iterator[Operator]:
    """Yield the release for all, then one a shard."""
    yield Operator(
        chart=CHART,
        namespace=NAMESPACE,
        depends_on=(CERT_MANAGER, IRONIC_CHART),
        # Without the name of an Ironic it asks for the address of one; it never looks for it.
        values={"envs": _environment((NAMESPACE,), {})},
    )
    for one in controllers:
        name = shard_namespace(one.name)
        settings = {"BMO_CONCURRENCY": str(WORKERS), "PROVISIONING_LIMIT": str(PROVISIONED_AT_ONCE)}
        if one.boot is BootMethod.VIRTUAL_MEDIA:
            settings["PROVISIONING_NETWORK_DISABLED"] = "true"
        yield Operator(
            chart=CHART,
            name=name,
            namespace=name,
            depends_on=(CHART,),
            values={
                "crd": {"enabled": False},
                "webhook": {"enabled": False},
                # Its own namespace first: a controller that is given no namespace watches all.
                "envs": _environment((name, *watched.get(one.name, ())), settings),
            },
            flags=("--webhook-port=0", *(f"{flag}={value}" for flag, value in PACE.items())),
        )


def render(controllers: tuple[ControllerSpec, ...], interface: str) -> Iterator[Manifest]:
    """Yield the Ironic of each shard.

    ``interface`` is what Ironic listens on, on the hosts of the management cluster that are labelled for the shard.
    """
    for one in controllers:
        yield manifest(
            "ironic.metal3.io/v1alpha1",
            "Ironic",
            IRONIC,
            namespace=shard_namespace(one.name),
            spec={
                "networking": {"interface": interface, **given(dhcp=None if one.dhcp is None else _dhcp(one.dhcp))},
                "nodeSelector": {keys.BARE_METAL_CONTROLLER: one.name},
            },
        )


def shard_namespace(controller: str) -> str:
    """Return the namespace of ``controller``, which its release is called after."""
    return f"{CHART}-{controller}"


def _environment(watched: tuple[str, ...], settings: Mapping[str, str]) -> list[dict[str, Any]]:
    own = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    texts = {"WATCH_NAMESPACE": ",".join(watched), "IRONIC_NAME": IRONIC, **settings}
    return [{"name": "POD_NAMESPACE", **own}, *({"name": name, "value": text} for name, text in texts.items())]


def _dhcp(dhcp: DhcpSpec) -> dict[str, str]:
    return {
        "networkCIDR": str(dhcp.network),
        "rangeBegin": str(dhcp.first),
        "rangeEnd": str(dhcp.last),
        **given(gatewayAddress=dhcp.gateway and str(dhcp.gateway)),
    }
