"""VPC backend with only NetworkPolicies and one flat network, for sites without DPUs and tenants with mutual trust.

In each cluster of the VPC, namespace ``default`` denies all traffic that the VPC does not allow, in both directions.
Limits of this backend:

- Hosts and pods on the host network are not isolated: they share the region's network with all other tenants.
- Prefixes of tenants are separated by allocation, not by a router: an address that is set by hand is not blocked.
- A namespace created by the tenant is open until it has a policy, because a NetworkPolicy applies to one namespace.
- The CNI must enforce policies. It runs on nodes on which the tenant has root access.
"""

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.packets import Service
from components.render.network.vpc import ANYWHERE, Reach, Vpc, reach
from components.render.objects import manifest
from components.specs.base import Network
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Ingress
from components.specs.region.region import NetworksSpec


def render(vpc: Vpc, networks: NetworksSpec, cluster: str) -> tuple[Manifest, ...]:
    """Return the NetworkPolicy of ``cluster``."""
    allowed = reach(vpc, networks)
    public = vpc.spec.ingress is Ingress.PUBLIC
    # IPv4 blocks do not match IPv6 traffic. IPv6 is not routed out of the cluster and needs no external peers.
    own = _blocks(vpc.numbers.of_cluster(cluster).ipv6.values())
    return (
        manifest(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            vpc.spec.name,
            namespace="default",
            labels={keys.TENANT: vpc.tenant},
            cluster=cluster,
            spec={
                "podSelector": {},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": [*([_outside(allowed)] if public else _blocks(allowed.inside)), *own]}],
                "egress": [
                    {"to": [*_blocks(allowed.permit), *_targets(allowed), *own]},
                    *(_to_service(service) for service in allowed.services),
                ],
            },
        ),
    )


def _targets(allowed: Reach) -> list[dict[str, Any]]:
    return [_outside(allowed)] if allowed.outside else _blocks(allowed.inside)


def _to_service(service: Service) -> dict[str, Any]:
    return {"to": _blocks((service.network,)), "ports": [{"protocol": "TCP", "port": service.port}]}


def _blocks(networks: Iterable[Network | Network6]) -> list[dict[str, Any]]:
    return [{"ipBlock": {"cidr": str(network)}} for network in networks]


def _outside(allowed: Reach) -> dict[str, Any]:
    return {"ipBlock": {"cidr": str(ANYWHERE), "except": [str(network) for network in allowed.deny]}}
