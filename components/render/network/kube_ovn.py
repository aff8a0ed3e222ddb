"""VPC backend with Kube-OVN as CNI of each cluster: a logical router and one switch for all pods.

Kube-OVN manages only the pods of its cluster. Each tenant cluster therefore has a separate set of objects, and the
management cluster has none. A cluster has one tenant: its default VPC is the tenant's VPC, with the VPC's name, and
Services, DNS and probes work as in any cluster. The objects are created before the first node joins, so that Kube-OVN
uses this VPC and switch instead of creating default objects.

Kube-OVN does not isolate hosts: nodes, and pods on the host network, share the network of the region with all other
tenants. Pod traffic is filtered on nodes, and the tenant has root access on its nodes.

OVN's databases run on the nodes of the cluster's pool with ``role: system``, which such a cluster requires. The chart
looks up their addresses whenever it is rendered (kubeovn/kube-ovn:charts/kube-ovn/templates/_helpers.tpl), because the
data do not contain them.

With IPv6 the switch, Services and join networks of nodes are dual-stack. Tunnels between nodes use IPv4, and the join
address of a node is used if the node has no IPv6 address (kubeovn/kube-ovn:pkg/controller/node.go). Pods may send IPv6
only to pods and Services: otherwise a node would masquerade the packets and use its routes.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.vpc import Reach, Vpc, reach
from components.render.objects import manifest
from components.render.region.operators import Operator, sources, tenant_release
from components.specs.base import Network
from components.specs.ipv6 import Network6
from components.specs.region.region import NetworksSpec

CHART = "kube-ovn"
NAMESPACE = "kube-system"
_API = "kubeovn.io/v1"
JOINTS = Network("100.64.0.0/16")
"""IPv4 join network between nodes and pods (the chart's default). Nodes must not have other routes to it."""
JOINTS_IPV6 = Network6("fd00:100:64::/112")
"""IPv6 join network between nodes and pods (the chart's default)."""
_DUAL = "dual_stack"
"""Chart value for dual-stack clusters, and chart key for their ranges."""
_PINGER = {
    "$patch": "delete",
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "kube-ovn-pinger"},
}
"""Removed: a pod of each node reads all Nodes and pods of its kind from the API server and pings each of them, without
pause in a large cluster, since a round takes 0.3 s per address (KOVN:pkg/pinger/ping.go). Nothing reads the results."""
_TCP = 6
"""IP protocol number of TCP."""
_PRIORITY = 2500
"""Priority of the rules, above Kube-OVN's rules for network policies and security groups."""


def render(vpc: Vpc, networks: NetworksSpec, cluster: str) -> tuple[Manifest, ...]:
    """Return the CNI and the VPC of ``cluster``, in the order in which they are applied."""
    name = vpc.spec.name
    allowed = reach(vpc, networks)
    pods, more = _pods(vpc), vpc.numbers.ipv6.values()
    return (
        *sources((_operator(vpc),), cluster, vpc.pins),
        tenant_release(_operator(vpc), cluster, vpc.pins, awaited=True),
        manifest(_API, "Vpc", name, cluster=cluster, labels=_labels(vpc), spec={"defaultSubnet": _subnet_name(name)}),
        manifest(
            _API,
            "Subnet",
            _subnet_name(name),
            cluster=cluster,
            labels=_labels(vpc),
            spec={
                "vpc": name,
                "default": True,
                "protocol": "Dual" if more else "IPv4",
                "cidrBlock": _both(pods),
                "gateway": _gateways(pods),
                # Kube-OVN sorts addresses as text (kubeovn/kube-ovn:pkg/controller/subnet.go).
                "excludeIps": sorted(_gateways(pods).split(",")),
                "gatewayType": "distributed",
                # Pod addresses are not routed outside the cluster, so pod traffic is masqueraded with the node address.
                "natOutgoing": True,
                "private": True,
                "allowSubnets": [str(network) for network in (*allowed.inside, *more)],
                "acls": [*_drops(allowed), *_drops_ipv6(more)],
            },
        ),
    )


def _operator(vpc: Vpc) -> Operator:
    name = vpc.spec.name
    return Operator(
        chart=CHART,
        namespace=NAMESPACE,
        values={
            "MASTER_NODES_LABEL": f"{keys.NODE_ROLE}=system",
            "networking": {
                "DEFAULT_VPC": name,
                "DEFAULT_SUBNET": _subnet_name(name),
                **({"NET_STACK": _DUAL} if vpc.numbers.ipv6 else {}),
            },
            **_ranges(vpc),
        },
        merged=(_PINGER,),
    )


def _ranges(vpc: Vpc) -> dict[str, Any]:
    """Return the ranges of a cluster, under the chart's key for its address families."""
    pods, numbers = _pods(vpc), vpc.numbers
    own = {"POD_CIDR": _both(pods), "POD_GATEWAY": _gateways(pods)}
    if numbers.services_ipv6 is None:
        return {"ipv4": {**own, "SVC_CIDR": str(numbers.services)}}
    return {
        _DUAL: {
            **own,
            "SVC_CIDR": _both((numbers.services, numbers.services_ipv6)),
            "JOIN_CIDR": _both((JOINTS, JOINTS_IPV6)),
        }
    }


def _pods(vpc: Vpc) -> tuple[Network | Network6, ...]:
    """Return the pod prefix of each address family, IPv4 first."""
    numbers = vpc.numbers
    return (numbers.pods,) if numbers.pods_ipv6 is None else (numbers.pods, numbers.pods_ipv6)


def _both(networks: Iterable[Network | Network6]) -> str:
    return ",".join(map(str, networks))


def _gateways(pods: Iterable[Network | Network6]) -> str:
    return ",".join(str(network[1]) for network in pods)


def _labels(vpc: Vpc) -> dict[str, str]:
    return {keys.TENANT: vpc.tenant}


def _subnet_name(vpc: str) -> str:
    """Return the name of the VPC's switch. Kube-OVN rejects a switch with the name of its VPC."""
    return f"{vpc}-pods"


def _drops(allowed: Reach) -> Iterator[dict[str, Any]]:
    """Yield drop rules for blocked destinations. Allow rules would override the tenant's network policies."""
    permit = (*allowed.permit, *(service.network for service in allowed.services))
    yield _drop(f"ip4.dst == {_addresses(allowed.deny)} && ip4.dst != {_addresses(permit)}")
    if not allowed.outside:
        yield _drop(f"ip4.dst != {_addresses((*permit, *allowed.inside))}")
    for service in allowed.services:
        # A comparison of a TCP port matches only TCP packets, so other protocols need a separate rule.
        to = f"ip4.dst == {_addresses((service.network,))}"
        yield _drop(f"{to} && ip.proto != {_TCP}")
        yield _drop(f"{to} && tcp.dst != {service.port}")


def _drops_ipv6(own: Collection[Network6]) -> Iterator[dict[str, Any]]:
    """Yield drop rules for blocked IPv6 destinations. Separate rules are required for each IP family."""
    if own:
        yield _drop(f"ip6.dst != {_addresses(own)}")


def _drop(match: str) -> dict[str, Any]:
    return {"action": "drop", "direction": "from-lport", "match": match, "priority": _PRIORITY}


def _addresses(networks: Iterable[Network | Network6]) -> str:
    return f"{{{', '.join(map(str, networks))}}}"
