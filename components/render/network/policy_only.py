"""A VPC by network policies alone: one flat network, for sites without DPUs and tenants who trust each other.

In each of its clusters the namespace ``default`` denies what the VPC does not allow, in both directions. That is all:

- Hosts are not isolated, nor pods on their network: they share the network of the region with those of all tenants.
- Prefixes of tenants are kept apart by allocation, not by a router: whoever sets an address by hand has it.
- A namespace that the tenant makes is open until it has a policy of its own; a policy of Kubernetes is never for more
  than one namespace.
- The CNI must enforce policies, and it runs on nodes that the tenant's root controls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.vpc import ANYWHERE, Reach, Vpc, reach
from components.render.objects import manifest
from components.specs.base import Network
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Ingress
from components.specs.region.region import NetworksSpec


def render(vpc: Vpc, networks: NetworksSpec, cluster: str) -> tuple[Manifest, ...]:
    """Return the policy of ``cluster``."""
    allowed = reach(vpc, networks)
    public = vpc.spec.ingress is Ingress.PUBLIC
    # What a block of IPv4 says is nothing about IPv6, which has no way out of the cluster to let through.
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
                "egress": [{"to": [*_blocks(allowed.permit), *_targets(allowed), *own]}],
            },
        ),
    )


def _targets(allowed: Reach) -> list[dict[str, Any]]:
    return [_outside(allowed)] if allowed.outside else _blocks(allowed.inside)


def _blocks(networks: Iterable[Network | Network6]) -> list[dict[str, Any]]:
    return [{"ipBlock": {"cidr": str(network)}} for network in networks]


def _outside(allowed: Reach) -> dict[str, Any]:
    return {"ipBlock": {"cidr": str(ANYWHERE), "except": [str(network) for network in allowed.deny]}}
