"""What the values of add-ons depend on: facts of one cluster, and where pods of the platform run in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render import labels as keys
from components.specs.base import Address, Network
from components.specs.ipv6 import Network6
from components.specs.pools.gpu_sharing import GpuSharingSpec

EVERY_NODE: list[dict[str, str]] = [{"operator": "Exists"}]
"""Tolerations of agents that each node needs: whatever taints a tenant gives its pools."""
_CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""Tolerates the one taint that CoreDNS, as kubeadm and k0s install it, tolerates too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """One cluster, as far as its add-ons must know it."""

    name: str
    nodes: int
    """Most nodes that its pools come to."""
    api: Address
    """Address of its API server."""
    pods: tuple[Network, ...]
    """Prefixes of which nodes have parts for their pods, in the order in which the cluster got them."""
    system_pool: bool
    """Whether it has a pool with role system."""
    gpus: bool
    """Whether nodes have GPUs."""
    attachments: bool
    """Whether Multus gives pods further networks, and so owns the folder of CNI configurations."""
    pods_ipv6: Network6 | None = None
    """Prefix of IPv6 of which nodes have parts for their pods, too; None where pods have IPv4 alone."""
    nvlink: Mapping[str, int] = field(default_factory=dict)
    """Nodes of an NVLink domain by instance type, for types of its nodes whose domains span nodes."""
    gpu_sharing: tuple[GpuSharingSpec, ...] = ()
    """Ways in which pods share GPUs of its nodes, each once."""

    @property
    def selector(self) -> dict[str, str]:
        """Return the node selector of services: the system pool, where there is one."""
        return {keys.NODE_ROLE: "system"} if self.system_pool else {}

    @property
    def placement(self) -> dict[str, Any]:
        """Return where a service runs that can wait for a ready node."""
        return {**self.selected, "tolerations": [_CRITICAL]}

    @property
    def early_placement(self) -> dict[str, Any]:
        """Return where a service runs without which no node gets ready."""
        return {**self.selected, "tolerations": EVERY_NODE}

    @property
    def selected(self) -> dict[str, Any]:
        """Return the node selector of services as values of a chart have it; nothing where they run anywhere."""
        return {"nodeSelector": self.selector} if self.selector else {}
