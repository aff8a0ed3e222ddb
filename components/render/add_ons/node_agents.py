"""Agents that charts run on nodes. An upgrade restarts the pods of agents and does not replace nodes.

Each of these charts has a DaemonSet, or its operator creates a DaemonSet. For ``metallb``, ``node-feature-discovery``
and ``topolvm``, a test checks the real charts (``tests/e2e/add_ons/test_charts.py``). The other entries are general
knowledge about the projects and were not verified in the charts.
"""

from collections.abc import Mapping

from components.render.storage.storage import STORAGE_BACKENDS

NODE_AGENTS: Mapping[str, str] = {
    "cilium": "CNI agents",
    "tigera-operator": "CNI agents",
    "kube-ovn": "CNI agents",
    "metallb": "BGP speakers",
    "gpu-operator": "GPU device plugins",
    "network-operator": "network adapter device plugins",
    "node-feature-discovery": "node labelling agents",
    "node-problem-detector": "problem detection agents",
    "kube-prometheus-stack": "metrics exporters",
    "opentelemetry-collector": "log collectors",
    **{backend.chart: "CSI node agents" for backend in STORAGE_BACKENDS.values()},
    "kubevirt-operator": "VM agents",
}
"""Agents on nodes, by chart."""


def restarts(chart: str) -> str:
    """Return a message text about the restarts that an upgrade of ``chart`` causes. Nodes are never replaced."""
    agents = NODE_AGENTS.get(chart)
    pods = f"its {agents} restart on the nodes" if agents else "its pods restart"
    return f"{pods}, and nodes are not replaced"
