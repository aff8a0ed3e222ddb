"""A VPC by Kube-OVN, the CNI of each of its clusters: a logical router and one switch for all pods.

Kube-OVN knows the pods of the cluster it runs in and nothing else, so its objects live in the tenant's clusters, one
set in each; the management cluster has none. A cluster has one tenant: its default VPC is the tenant's VPC, under the
VPC's name, and services, DNS and probes work as in any cluster. The objects are made before the first node is there;
Kube-OVN then finds its default VPC and switch and makes none of its own.

It does not isolate hosts: nodes, and pods on their network, share the network of the region with those of all other
tenants. What pods may reach is enforced on the nodes that a tenant's root controls.

OVN's own databases run on the nodes of the cluster's pool with ``role: system``, which such a cluster needs. The chart
looks their addresses up whenever it is rendered (kubeovn/kube-ovn:charts/kube-ovn/templates/_helpers.tpl): data know
none of them before.

With IPv6 its switch, Services and joints to nodes have both families. Tunnels between nodes stay IPv4, and where a node
has no address of IPv6 its joint stands for it (kubeovn/kube-ovn:pkg/controller/node.go). Pods send no IPv6 but to each
other and to Services: a node would give it its own address and send it wherever its routes lead.
"""

from __future__ import annotations

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
"""Network of the joints by which nodes reach pods; a node has no other route to it (the chart's default)."""
JOINTS_IPV6 = Network6("fd00:100:64::/112")
"""Network of IPv6 of the joints by which nodes reach pods (the chart's default)."""
_DUAL = "dual_stack"
"""What the chart calls a cluster with both families, and its ranges."""
_PROBED = "1.1.1.1"
"""Address outside that each node's probe pings (the chart's default)."""
_PRIORITY = 2500
"""Priority of the rules; those that Kube-OVN makes for network policies and security groups lie below."""


def render(vpc: Vpc, networks: NetworksSpec, cluster: str) -> tuple[Manifest, ...]:
    """Return the CNI of ``cluster`` and its VPC, in the order they are applied."""
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
                # Kube-OVN sorts them as text (kubeovn/kube-ovn:pkg/controller/subnet.go).
                "excludeIps": sorted(_gateways(pods).split(",")),
                "gatewayType": "distributed",
                # Nobody outside has a route to pods: what they may reach sees the address of their node.
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
    )


def _ranges(vpc: Vpc) -> dict[str, Any]:
    """Return the ranges of a cluster, under the key of the families that it has."""
    pods, numbers = _pods(vpc), vpc.numbers
    own = {"POD_CIDR": _both(pods), "POD_GATEWAY": _gateways(pods)}
    if numbers.services_ipv6 is None:
        return {"ipv4": {**own, "SVC_CIDR": str(numbers.services)}}
    return {
        _DUAL: {
            **own,
            "SVC_CIDR": _both((numbers.services, numbers.services_ipv6)),
            "JOIN_CIDR": _both((JOINTS, JOINTS_IPV6)),
            # The chart's probes would ping an address of IPv6 too, which no pod reaches.
            "PINGER_EXTERNAL_ADDRESS": _PROBED,
        }
    }


def _pods(vpc: Vpc) -> tuple[Network | Network6, ...]:
    """Return the prefix for pods of each family, that of IPv4 first."""
    numbers = vpc.numbers
    return (numbers.pods,) if numbers.pods_ipv6 is None else (numbers.pods, numbers.pods_ipv6)


def _both(networks: Iterable[Network | Network6]) -> str:
    return ",".join(map(str, networks))


def _gateways(pods: Iterable[Network | Network6]) -> str:
    return ",".join(str(network[1]) for network in pods)


def _labels(vpc: Vpc) -> dict[str, str]:
    return {keys.TENANT: vpc.tenant}


def _subnet_name(vpc: str) -> str:
    """Return the name of the VPC's switch; Kube-OVN refuses one that is called like its VPC."""
    return f"{vpc}-pods"


def _drops(allowed: Reach) -> Iterator[dict[str, Any]]:
    """Yield what pods may not reach. Rules that allow would outrank the tenant's own network policies."""
    permit = _addresses(allowed.permit)
    yield _drop(f"ip4.dst == {_addresses(allowed.deny)} && ip4.dst != {permit}")
    if not allowed.outside:
        yield _drop(f"ip4.dst != {_addresses((*allowed.permit, *allowed.inside))}")


def _drops_ipv6(own: Collection[Network6]) -> Iterator[dict[str, Any]]:
    """Yield what pods may not reach by IPv6; a term of one family is about no packet of the other."""
    if own:
        yield _drop(f"ip6.dst != {_addresses(own)}")


def _drop(match: str) -> dict[str, Any]:
    return {"action": "drop", "direction": "from-lport", "match": match, "priority": _PRIORITY}


def _addresses(networks: Iterable[Network | Network6]) -> str:
    return f"{{{', '.join(map(str, networks))}}}"
