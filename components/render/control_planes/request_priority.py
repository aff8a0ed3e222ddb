"""API priority and fairness in a tenant cluster when all nodes reconnect simultaneously.

Kubernetes has separate priority levels for leases and status of nodes, other requests of kubelets, and leader election,
but no level for agents on every node. These agents list all watched objects when their node reconnects. Agents in
``kube-system`` share a level and a queue with the controllers that repair nodes and pods. Agents in other namespaces
share a level with the tenant's workloads. The platform's agents therefore get a dedicated priority level with separate
queues for each agent.
"""

import math
from collections.abc import Mapping
from typing import Any

from components.render.add_ons.cni import CALICO, CILIUM
from components.render.manifest import Manifest
from components.render.network import kube_ovn
from components.render.objects import manifest
from components.specs.struct import Struct

LEVEL = "platform-agents"
"""Name of the priority level and of the FlowSchema. Kubernetes deletes only objects with the annotation it sets."""
_GROUP = "flowcontrol.apiserver.k8s.io/v1"
_PRECEDENCE = 850
"""Precedence after the important built-in FlowSchemas (up to 800), and before the FlowSchemas for accounts of
kube-system (900) and for all other accounts (9000)."""
_SHARES = 40
"""Shares of a server's concurrency limit, out of 285 in total; equal to ``node-high`` and ``workload-high``."""
_LENT_PERCENT = 50
_QUEUES, _QUEUES_OF_ONE, _LEAST_WAITING = 128, 6, 50
"""Upstream's defaults: queues per level, queues over which requests of an account are spread, requests per queue."""
_SYSTEM = "kube-system"
_EVERY = "*"
_KUBE_PROXY = (_SYSTEM, "kube-proxy")
"""Installed by Kamaji and k0s."""
_AGENTS_ELSEWHERE: Mapping[str, tuple[tuple[str, str], ...]] = {
    CILIUM: ((_SYSTEM, "cilium"),),
    CALICO: (("calico-system", _EVERY),),
    kube_ovn.CHART: tuple((_SYSTEM, name) for name in ("kube-ovn-cni", "ovn-ovs", "kube-ovn-app")),
}
"""Namespace and account of agents, for charts that run agents outside the namespace of the release."""


class RequestPriorityInput(Struct):
    """Charts that the platform installs in one cluster, and the size of the cluster."""

    name: str
    cluster: str
    nodes: int
    """Maximum number of nodes of the cluster."""
    installed: tuple[tuple[str, str], ...]
    """Chart and namespace of each release that the platform installs in the cluster."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the priority level and the FlowSchema for requests of the platform's agents."""
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
        schema = {
            "priorityLevelConfiguration": {"name": LEVEL},
            "matchingPrecedence": _PRECEDENCE,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [rules],
        }
        return (
            manifest(_GROUP, "PriorityLevelConfiguration", LEVEL, cluster=self.cluster, spec=self._level()),
            manifest(_GROUP, "FlowSchema", LEVEL, cluster=self.cluster, spec=schema),
        )

    def _level(self) -> dict[str, Any]:
        queuing = {
            "queues": _QUEUES,
            "handSize": _QUEUES_OF_ONE,
            # Capacity for one request of an agent per node. Further requests are rejected and retried after a second.
            "queueLengthLimit": max(_LEAST_WAITING, math.ceil(self.nodes / _QUEUES_OF_ONE)),
        }
        limited = {
            "nominalConcurrencyShares": _SHARES,
            "lendablePercent": _LENT_PERCENT,
            "limitResponse": {"type": "Queue", "queuing": queuing},
        }
        return {"type": "Limited", "limited": limited}

    def _accounts(self) -> dict[tuple[str, str], None]:
        """Return the distinct accounts of agents: all in the platform's namespaces, and some in kube-system."""
        others = (account for chart, _ in self.installed for account in _AGENTS_ELSEWHERE.get(chart, ()))
        platform = ((place, _EVERY) for _, place in self.installed if place != _SYSTEM)
        return dict.fromkeys((_KUBE_PROXY, *others, *platform))


def _subject(namespace: str, name: str) -> dict[str, Any]:
    """Return an account, or all accounts of a namespace, as subject of a FlowSchema. Accounts need not exist yet."""
    if name == _EVERY:
        return {"kind": "Group", "group": {"name": f"system:serviceaccounts:{namespace}"}}
    return {"kind": "User", "user": {"name": f"system:serviceaccount:{namespace}:{name}"}}
