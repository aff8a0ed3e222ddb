"""A VPC by Kube-OVN, the CNI of each of its clusters: a logical router and one switch for all pods.

Kube-OVN knows the pods of the cluster it runs in and nothing else, so its objects live in the tenant's clusters, one
set in each; the management cluster has none. A cluster has one tenant: its default VPC is the tenant's VPC, under the
VPC's name, and services, DNS and probes work as in any cluster. The objects are made before the first node is there;
Kube-OVN then finds its default VPC and switch and makes none of its own.

It does not isolate hosts: nodes, and pods on their network, share the network of the region with those of all other
tenants. What pods may reach is enforced on the nodes that a tenant's root controls.

OVN's own databases run on the nodes of the cluster's pool with ``role: system``, which such a cluster needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.operators import Operator, sources, tenant_release
from components.render.vpc import Reach, Vpc, reach
from components.specs.base import Network
from components.specs.region import NetworksSpec

CHART = "kube-ovn"
NAMESPACE = "kube-system"
_API = "kubeovn.io/v1"
_PRIORITY = 2500
"""Priority of the rules; those that Kube-OVN makes for network policies and security groups lie below."""


def render(vpc: Vpc, networks: NetworksSpec, cluster: str) -> tuple[Manifest, ...]:
    """Return the CNI of ``cluster`` and its VPC, in the order they are applied."""
    name = vpc.spec.name
    allowed = reach(vpc, networks)
    gateway = str(vpc.numbers.pods[1])
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
                "protocol": "IPv4",
                "cidrBlock": str(vpc.numbers.pods),
                "gateway": gateway,
                "excludeIps": [gateway],
                "gatewayType": "distributed",
                # Nobody outside has a route to pods: what they may reach sees the address of their node.
                "natOutgoing": True,
                "private": True,
                "allowSubnets": [str(network) for network in allowed.inside],
                "acls": list(_drops(allowed)),
            },
        ),
    )


def _operator(vpc: Vpc) -> Operator:
    name, numbers = vpc.spec.name, vpc.numbers
    return Operator(
        chart=CHART,
        namespace=NAMESPACE,
        values={
            "MASTER_NODES_LABEL": f"{keys.NODE_ROLE}=system",
            "networking": {"DEFAULT_VPC": name, "DEFAULT_SUBNET": _subnet_name(name)},
            "ipv4": {
                "POD_CIDR": str(numbers.pods),
                "POD_GATEWAY": str(numbers.pods[1]),
                "SVC_CIDR": str(numbers.services),
            },
        },
    )


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


def _drop(match: str) -> dict[str, Any]:
    return {"action": "drop", "direction": "from-lport", "match": match, "priority": _PRIORITY}


def _addresses(networks: Iterable[Network]) -> str:
    return f"{{{', '.join(map(str, networks))}}}"
