"""What a chart runs on nodes, as people know it: pods that an upgrade restarts there, while the nodes stay.

Each of these charts has a DaemonSet, or its operator makes one. Of ``metallb``, ``node-feature-discovery`` and
``topolvm`` a test asks the real charts (``tests/e2e/test_charts.py``). The others are not here: what stands of them is
what the projects are known for, and was not read in their charts.
"""

from __future__ import annotations

from collections.abc import Mapping

NODE_AGENTS: Mapping[str, str] = {
    "cilium": "agents of the network",
    "tigera-operator": "agents of the network",
    "kube-ovn": "agents of the network",
    "metallb": "speakers, which announce addresses",
    "gpu-operator": "device plugins of GPUs",
    "network-operator": "device plugins of network adapters",
    "node-feature-discovery": "agents that label nodes",
    "node-problem-detector": "agents that watch for problems",
    "kube-prometheus-stack": "exporters of metrics",
    "csi-driver-nfs": "agents that mount volumes",
    "vast-csi": "agents that mount volumes",
    "topolvm": "agents that mount volumes",
    "kubevirt-operator": "agents that run VMs",
}
"""What each chart runs on nodes, by chart."""


def restarts(chart: str) -> str:
    """Return what an upgrade of ``chart`` restarts, in words; what it does to nodes is nothing in any case."""
    agents = NODE_AGENTS.get(chart)
    pods = f"its {agents} restart on the nodes" if agents else "its pods restart"
    return f"{pods}, and no node is made anew"
