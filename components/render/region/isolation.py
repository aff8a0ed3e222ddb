"""Pod Security levels, quotas and NetworkPolicies of the management cluster's namespaces.

The pods of a tenant's control plane share the management cluster with control planes of other tenants and with the
controllers of the hardware. Namespaces belong to one of three kinds:

- *operators*: egress to all networks except BMCs, which only operators that control hardware can reach. Ingress from
  the same namespace, hosts of the management cluster and the monitoring.
- *control planes*, one namespace per cluster: egress to the same namespace, shared data stores and external endpoints
  in the tenant's data. Ingress to the API from all networks except BMCs; to other ports only from the monitoring and
  the manager of the data store.
- *empty*, for hosts and objects of a tenant: no pods are allowed.

NetworkPolicies do not apply to pods in the host network, such as Ironic, speakers and exporters. The egress rules of
control planes prevent access to these pods.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from components.render.pools import cluster_autoscaler
from components.render.region import dns
from components.render.region.operator_places import OperatorPlace
from components.specs.base import Address
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.region.region import NetworksSpec
from components.specs.struct import Struct

CONTROL_PLANE_SECURITY = PodSecurity.BASELINE
"""Pod Security level of control-plane namespaces: pods of Kamaji, k0smotron and kamaji-etcd run as root without host
access."""
EMPTY_SECURITY = PodSecurity.RESTRICTED
_API, _KONNECTIVITY, _ETCD, _DNS, _HTTPS = 6443, 8132, 2379, 53, 443
_MONITORING, _DNS_NAMESPACE = "monitoring", "kube-system"
_JOB_PODS = 8
"""Maximum number of concurrent Job pods of a control plane: snapshots, windows, the setup of an etcd."""
_SHARE = 16
"""Divisor for the default requests of a container, applied to the smallest machine of the sizing table."""


class ControlPlanePlace(Struct):
    """Network isolation and quota parameters of one cluster's control plane."""

    cluster: str
    address: Address
    """Address of the API, also used by pods in the namespace of the control plane."""
    replicas: int
    members: int
    """Number of pods of the dedicated etcds."""
    asks: tuple[int, ...]
    """External ports of services in the tenant's data, which API servers call."""
    saves: tuple[int, ...]
    """External ports for uploads of snapshots by Jobs."""
    fabrics: int
    """Number of fabric managers that receive updates about pods of the cluster."""
    names: tuple[Address, int] | None = None
    """Address and port of the name server for DNS names of the cluster's Services; None without DNS names."""
    autoscales: bool = False
    """Whether the cluster has an autoscaler, which changes MachineDeployments."""


class IsolationInput(Struct):
    """All namespaces of a management cluster, with the input for policies and quotas."""

    name: str
    home: str
    """Namespace of the parent object of the set."""
    operators: Mapping[str, OperatorPlace]
    control_planes: tuple[ControlPlanePlace, ...]
    empty: tuple[str, ...]
    networks: NetworksSpec
    stores: tuple[str, ...]
    """Endpoints of shared data stores."""
    hosts: int
    """Number of hosts of the region, which is the maximum number of nodes of a cluster."""

    def render(self) -> tuple[ManifestSet, ...]:
        """Return all objects as a single set, so that an additional cluster adds no Pulumi resource."""
        items = (
            *(_operators(name, place, self) for name, place in self.operators.items()),
            *(item for place in self.control_planes for item in _control_plane(place, self)),
            *(item for name in self.empty for item in _empty(name)),
        )
        members = {f"{item.namespace}/{item.kind}/{item.name}": item for item in items}
        return (ManifestSet(name="isolation", namespace=self.home, members=members),)


def _operators(name: str, place: OperatorPlace, region: IsolationInput) -> Manifest:
    networks = region.networks
    stores = [port_of(endpoint) for endpoint in region.stores if namespace_of(endpoint) == name]
    users = [
        in_namespace(other)
        for other, operators in region.operators.items()
        if (operators.api_servers or operators.keeps_stores) and other != name
    ]
    ports = (*place.ports, *((_API, _KONNECTIVITY) if place.api_servers else ()))
    return _policy(
        "default",
        name,
        ingress=[
            # The management cluster's API servers call webhooks from the host network.
            incoming(SAME_NAMESPACE, in_namespace(_MONITORING), within(networks.management)),
            *([incoming(within(networks.bmc))] if place.bmcs else []),
            *([incoming(anywhere(), ALL_OTHERS, ports=ports)] if ports else []),
            *([incoming(CONTROL_PLANES, *users, ports=stores)] if stores else []),
        ],
        egress=[outgoing(ALL_PODS, anywhere() if place.bmcs else anywhere(networks.bmc))],
    )


def _control_plane(place: ControlPlanePlace, region: IsolationInput) -> Iterator[Manifest]:
    name, labels, networks = place.cluster, {keys.CLUSTER: place.cluster}, region.networks
    managers = [in_namespace(other) for other, operators in region.operators.items() if operators.keeps_stores]
    yield _policy(
        "default",
        name,
        labels=labels,
        ingress=[
            incoming(SAME_NAMESPACE, in_namespace(_MONITORING)),
            incoming(anywhere(networks.bmc), ALL_OTHERS, ports=(_API, _KONNECTIVITY)),
            *([incoming(*managers, ports=(_ETCD,))] if managers else []),
        ],
        egress=[
            outgoing(SAME_NAMESPACE),
            outgoing(within(place.address), ports=(_API,)),
            outgoing(in_namespace(_DNS_NAMESPACE), ports=(_DNS,), protocols=("UDP", "TCP")),
            # All stores are allowed, since a control plane uses both stores during a migration.
            *_to_stores(region.stores, networks),
        ],
    )
    # The tenant sets the address of its identity provider, so the region's internal networks are excluded.
    internal = (
        networks.bmc,
        networks.control_plane_vips,
        networks.dpu_loopbacks,
        networks.management,
        networks.tenants,
    )
    hidden = (*internal, *(() if networks.boot is None else (networks.boot,)))
    if place.asks:
        rules = [outgoing(anywhere(*hidden), ports=place.asks)]
        yield _policy("outside", name, labels=labels, pods=SERVERS, egress=rules)
    rules = [outgoing(within(networks.management), ports=(_API,))]
    rules += [outgoing(anywhere(*hidden), ports=place.saves)] if place.saves else []
    yield _policy("jobs", name, labels=labels, pods=JOBS, egress=rules)
    if place.fabrics:
        # Only a Secret contains the address of a fabric manager, which is usually on the management network.
        rules = [outgoing(anywhere(*(net for net in hidden if net != networks.management)), ports=(_HTTPS,))]
        yield _policy("fabric-managers", name, labels=labels, pods=FABRIC_DAEMONS, egress=rules)
    if place.names:
        server, port = place.names
        rules = [outgoing(within(server), ports=(port,))]
        yield _policy("names", name, labels=labels, pods={"matchLabels": dns.PODS}, egress=rules)
    if place.autoscales:
        rules = [outgoing(within(networks.management), ports=(_API,))]
        yield _policy("autoscaler", name, labels=labels, pods={"matchLabels": cluster_autoscaler.PODS}, egress=rules)
    yield _quota(place, labels, region.hosts)
    yield _defaults(name, labels)


def _to_stores(endpoints: Iterable[str], networks: NetworksSpec) -> list[dict[str, Any]]:
    """Return one egress rule for each distinct peer and port of ``endpoints``."""
    rules: list[dict[str, Any]] = []
    for endpoint in endpoints:
        rule = outgoing(serving(endpoint, networks), ports=(port_of(endpoint),))
        rules += [] if rule in rules else [rule]
    return rules


def _empty(name: str) -> tuple[Manifest, ...]:
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
    """Return a policy that allows only the given rules. Without ``ingress``, the policy affects only egress."""
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
    """Return the quota of a control plane: a machine of the sizing table for each of its pods.

    During an upgrade, all new replicas can exist before an old replica is deleted. The machine is sized for a cluster
    with all hosts. A quota derived from the pools would shrink with the pools and block the replacement of larger pods.
    """
    additional = place.fabrics + (place.names is not None) + place.autoscales
    pods, machine = 2 * place.replicas + place.members + additional, size_for(hosts)
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
    """Return the default resource requests of containers. The quota would reject containers without requests."""
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
