"""Which requests to a tenant cluster's API are answered first when all nodes come back at once.

Kubernetes keeps leases and status of nodes apart by itself, then what else kubelets ask, then leader elections. Agents
that run on every node are not: each asks for all it watches when its node comes back. Those in ``kube-system`` share a
level, and within it a queue, with the controllers that put nodes and pods right; those elsewhere share one with
whatever the tenant runs. So they get a level of their own, in which each agent has queues of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.render.add_ons.cni import CALICO, CILIUM
from components.render.manifest import Manifest
from components.render.network import kube_ovn
from components.render.objects import manifest

LEVEL = "platform-agents"
"""Name of the level and of what leads to it; Kubernetes takes away only objects that it has annotated itself."""
_GROUP = "flowcontrol.apiserver.k8s.io/v1"
_PRECEDENCE = 850
"""Behind all that Kubernetes puts first (up to 800), before its rules for accounts of kube-system (900) and all others
(9000)."""
_SHARES = 40
"""Part of what a server answers at once, of 285 in all; as many as ``node-high`` and ``workload-high`` have."""
_LENT_PERCENT = 50
_QUEUES, _QUEUES_OF_ONE, _LEAST_WAITING = 128, 6, 50
"""Upstream's numbers: queues of a level, queues that the requests of one account are spread over, requests in each."""
_SYSTEM = "kube-system"
_EVERY = "*"
_KUBE_PROXY = (_SYSTEM, "kube-proxy")
"""Installed by Kamaji and k0s."""
_OTHERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    CILIUM: ((_SYSTEM, "cilium"),),
    CALICO: (("calico-system", _EVERY),),
    kube_ovn.CHART: tuple((_SYSTEM, name) for name in ("kube-ovn-cni", "ovn-ovs", "kube-ovn-app")),
}
"""Namespace and account of agents that a chart runs in a namespace that is not its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPriorityInput:
    """What the platform installs in one cluster, and how many nodes its agents come back with."""

    name: str
    cluster: str
    nodes: int
    """Most nodes of the cluster."""
    installed: tuple[tuple[str, str], ...]
    """Chart and namespace of whatever the platform installs there."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the level, and what leads requests of the platform's agents to it."""
        rules = {
            "subjects": [_subject(*account) for account in self._accounts()],
            "resourceRules": [
                {
                    "verbs": [_EVERY],
                    "apiGroups": [_EVERY],
                    "resources": [_EVERY],
                    "namespaces": [_EVERY],
                    "clusterScope": True,
                }
            ],
            "nonResourceRules": [{"verbs": [_EVERY], "nonResourceURLs": [_EVERY]}],
        }
        leads = {
            "priorityLevelConfiguration": {"name": LEVEL},
            "matchingPrecedence": _PRECEDENCE,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [rules],
        }
        return (
            manifest(_GROUP, "PriorityLevelConfiguration", LEVEL, cluster=self.cluster, spec=self._level()),
            manifest(_GROUP, "FlowSchema", LEVEL, cluster=self.cluster, spec=leads),
        )

    def _level(self) -> dict[str, Any]:
        queuing = {
            "queues": _QUEUES,
            "handSize": _QUEUES_OF_ONE,
            # One request of an agent of each node has room; more than that is refused, and asked again a second later.
            "queueLengthLimit": max(_LEAST_WAITING, math.ceil(self.nodes / _QUEUES_OF_ONE)),
        }
        limited = {
            "nominalConcurrencyShares": _SHARES,
            "lendablePercent": _LENT_PERCENT,
            "limitResponse": {"type": "Queue", "queuing": queuing},
        }
        return {"type": "Limited", "limited": limited}

    def _accounts(self) -> dict[tuple[str, str], None]:
        """Return the accounts of agents, each once: all of a namespace of the platform's own, some of kube-system."""
        others = (account for chart, _ in self.installed for account in _OTHERS.get(chart, ()))
        own = ((place, _EVERY) for _, place in self.installed if place != _SYSTEM)
        return dict.fromkeys((_KUBE_PROXY, *others, *own))


def _subject(namespace: str, name: str) -> dict[str, Any]:
    """Return an account, or all of a namespace, by what an API server calls them; none of them need be there yet."""
    if name == _EVERY:
        return {"kind": "Group", "group": {"name": f"system:serviceaccounts:{namespace}"}}
    return {"kind": "User", "user": {"name": f"system:serviceaccount:{namespace}:{name}"}}
