"""Walls inside the management cluster: what runs in a namespace, how much of it, and whom its pods talk to.

A tenant's control plane is pods beside those of all others, and beside what commands the hardware. There are three
kinds of namespaces:

- *operators*: they reach everything but BMCs, which only those reach that drive hardware. Each other's pods, hosts of
  the management cluster and the monitoring reach them.
- *control planes*, one namespace a cluster: its pods reach each other, the data stores that clusters share and what the
  tenant's data name outside. Its API is open to everybody but BMCs, all else to the monitoring and to what keeps its
  data store.
- *empty* ones: hosts, and objects of a tenant. No pod has a place there.

A policy holds for pods with an address of their own. Ironic, speakers and exporters are on the network of their host,
where none holds: control planes are kept from them by not being let out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.control_planes.sizing import MEBIBYTES_PER_CPU, SIZES, size_for
from components.render.manifest import Manifest, ManifestSet
from components.render.network.network_peers import (
    ALL_OTHERS,
    ALL_PODS,
    CONTROL_PLANES,
    FABRIC_DAEMONS,
    JOBS,
    SAME_NAMESPACE,
    SERVERS,
    anywhere,
    in_namespace,
    incoming,
    namespace_of,
    outgoing,
    port_of,
    serving,
    within,
)
from components.render.objects import given, manifest
from components.render.region import dns
from components.render.region.operator_places import OperatorPlace
from components.specs.base import Address
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.region.region import NetworksSpec

CONTROL_PLANE_SECURITY = PodSecurity.BASELINE
"""Level of namespaces with pods of Kamaji, k0smotron and kamaji-etcd, which need nothing of a host and run as root."""
EMPTY_SECURITY = PodSecurity.RESTRICTED
_API, _KONNECTIVITY, _ETCD, _DNS, _HTTPS = 6443, 8132, 2379, 53, 443
_MONITORING, _DNS_NAMESPACE = "monitoring", "kube-system"
_JOB_PODS = 8
"""Pods of Jobs that a control plane may have at a time: snapshots, windows, the set-up of an etcd."""
_SHARE = 16
"""Part of the smallest machine of the sizing table that a container reserves which asks for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlanePlace:
    """The control plane of one cluster, as far as walls go."""

    cluster: str
    address: Address
    """Address of its API, by which pods beside it reach it too."""
    replicas: int
    members: int
    """Number of pods of etcds of its own."""
    asks: tuple[int, ...]
    """Ports outside on which API servers ask the services that the tenant names."""
    saves: tuple[int, ...]
    """Ports outside on which Jobs save snapshots."""
    fabrics: int
    """Number of fabric managers that are told of its pods."""
    names: tuple[Address, int] | None = None
    """Address and port of the name server that names of its Services are written to; None where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationInput:
    """All namespaces of a management cluster, and what may pass between them."""

    name: str
    home: str
    """Namespace in which the set of walls is kept track of."""
    operators: Mapping[str, OperatorPlace]
    control_planes: tuple[ControlPlanePlace, ...]
    empty: tuple[str, ...]
    networks: NetworksSpec
    stores: tuple[str, ...]
    """Endpoints of the data stores that control planes share."""
    hosts: int
    """Number of hosts of the region, the most nodes that a cluster may come to have."""

    def render(self) -> tuple[ManifestSet, ...]:
        """Return all walls as one set: a cluster more is no resource more."""
        items = (
            *(_operators(name, place, self) for name, place in self.operators.items()),
            *(item for place in self.control_planes for item in _control_plane(place, self)),
            *(item for name in self.empty for item in _nothing(name)),
        )
        members = {f"{item.namespace}/{item.kind}/{item.name}": item for item in items}
        return (ManifestSet(name="isolation", namespace=self.home, members=members),)


def _operators(name: str, place: OperatorPlace, walls: IsolationInput) -> Manifest:
    networks = walls.networks
    stores = [port_of(endpoint) for endpoint in walls.stores if namespace_of(endpoint) == name]
    users = [
        in_namespace(other)
        for other, one in walls.operators.items()
        if (one.api_servers or one.keeps_stores) and other != name
    ]
    ports = (*place.ports, *((_API, _KONNECTIVITY) if place.api_servers else ()))
    return _policy(
        "default",
        name,
        ingress=[
            # API servers of the management cluster call webhooks from the network of their host.
            incoming(SAME_NAMESPACE, in_namespace(_MONITORING), within(networks.management)),
            *([incoming(within(networks.bmc))] if place.bmcs else []),
            *([incoming(anywhere(), ALL_OTHERS, ports=ports)] if ports else []),
            *([incoming(CONTROL_PLANES, *users, ports=stores)] if stores else []),
        ],
        egress=[outgoing(ALL_PODS, anywhere() if place.bmcs else anywhere(networks.bmc))],
    )


def _control_plane(place: ControlPlanePlace, walls: IsolationInput) -> Iterator[Manifest]:
    name, labels, networks = place.cluster, {keys.CLUSTER: place.cluster}, walls.networks
    keepers = [in_namespace(other) for other, one in walls.operators.items() if one.keeps_stores]
    yield _policy(
        "default",
        name,
        labels=labels,
        ingress=[
            incoming(SAME_NAMESPACE, in_namespace(_MONITORING)),
            incoming(anywhere(networks.bmc), ALL_OTHERS, ports=(_API, _KONNECTIVITY)),
            *([incoming(*keepers, ports=(_ETCD,))] if keepers else []),
        ],
        egress=[
            outgoing(SAME_NAMESPACE),
            outgoing(within(place.address), ports=(_API,)),
            outgoing(in_namespace(_DNS_NAMESPACE), ports=(_DNS,), protocols=("UDP", "TCP")),
            # Of all, since a control plane that moves to another one still has its objects in the former.
            *_to_stores(walls.stores, networks),
        ],
    )
    # A tenant writes the address of its identity provider: it must lead to nothing of the region's own.
    own = (networks.bmc, networks.control_plane_vips, networks.dpu_loopbacks, networks.management, networks.tenants)
    hidden = (*own, *(() if networks.boot is None else (networks.boot,)))
    if place.asks:
        rules = [outgoing(anywhere(*hidden), ports=place.asks)]
        yield _policy("outside", name, labels=labels, pods=SERVERS, egress=rules)
    rules = [outgoing(within(networks.management), ports=(_API,))]
    rules += [outgoing(anywhere(*hidden), ports=place.saves)] if place.saves else []
    yield _policy("jobs", name, labels=labels, pods=JOBS, egress=rules)
    if place.fabrics:
        # Only its Secret knows where a fabric manager is; on the management network, as a rule.
        rules = [outgoing(anywhere(*(one for one in hidden if one != networks.management)), ports=(_HTTPS,))]
        yield _policy("fabric-managers", name, labels=labels, pods=FABRIC_DAEMONS, egress=rules)
    if place.names:
        server, port = place.names
        rules = [outgoing(within(server), ports=(port,))]
        yield _policy("names", name, labels=labels, pods={"matchLabels": dns.PODS}, egress=rules)
    yield _quota(place, labels, walls.hosts)
    yield _defaults(name, labels)


def _to_stores(endpoints: Iterable[str], networks: NetworksSpec) -> list[dict[str, Any]]:
    """Return a rule for each answerer and port of ``endpoints``, once."""
    rules: list[dict[str, Any]] = []
    for endpoint in endpoints:
        rule = outgoing(serving(endpoint, networks), ports=(port_of(endpoint),))
        rules += [] if rule in rules else [rule]
    return rules


def _nothing(name: str) -> tuple[Manifest, ...]:
    return (
        _policy("default", name, ingress=[], egress=[]),
        manifest("v1", "ResourceQuota", "no-pods", namespace=name, spec={"hard": {"pods": "0"}}),
    )


def _policy(
    name: str,
    namespace: str,
    *,
    egress: list[dict[str, Any]],
    ingress: list[dict[str, Any]] | None = None,
    labels: dict[str, str] | None = None,
    pods: dict[str, Any] | None = None,
) -> Manifest:
    """Return a policy whose rules are all that its pods may do; one without ``ingress`` adds ways out only."""
    return manifest(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        name,
        namespace=namespace,
        labels=labels,
        spec={
            "podSelector": pods or {},
            "policyTypes": [*([] if ingress is None else ["Ingress"]), "Egress"],
            **given(ingress=ingress, egress=egress),
        },
    )


def _quota(place: ControlPlanePlace, labels: dict[str, str], hosts: int) -> Manifest:
    """Return the most that a control plane takes: for each of its pods a machine of the sizing table.

    An upgrade makes all replicas anew before one of the old goes. The machine is that of a cluster of all hosts: a
    quota that followed the pools would shrink with them, and keep the larger pods of before from being replaced.
    """
    beside = place.fabrics + (place.names is not None)
    pods, machine = 2 * place.replicas + place.members + beside, size_for(hosts)
    return manifest(
        "v1",
        "ResourceQuota",
        "control-plane",
        namespace=place.cluster,
        labels=labels,
        spec={
            "hard": {
                "pods": str(pods + _JOB_PODS),
                "requests.cpu": str(machine.cpus * pods),
                "requests.memory": f"{machine.memory_mebibytes * pods}Mi",
                "persistentvolumeclaims": str(place.members),
                "services.loadbalancers": "1",
            }
        },
    )


def _defaults(namespace: str, labels: dict[str, str]) -> Manifest:
    """Return what a container reserves that asks for nothing; the quota would refuse it otherwise."""
    cpus = SIZES[0].cpus
    requests = {"cpu": f"{1000 * cpus // _SHARE}m", "memory": f"{MEBIBYTES_PER_CPU * cpus // _SHARE}Mi"}
    return manifest(
        "v1",
        "LimitRange",
        "control-plane",
        namespace=namespace,
        labels=labels,
        spec={"limits": [{"type": "Container", "defaultRequest": requests}]},
    )
