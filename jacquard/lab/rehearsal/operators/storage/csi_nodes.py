"""Simulated registration of CSI drivers: a CSINode lists the drivers whose sockets the kubelet of the node finds.

A driver is on a node while a pod of its node agent runs there. The kubelet watches ``plugins_registry`` in its root
directory only (K8S:pkg/kubelet/kubelet.go), so an agent that mounts another directory does not register. When the agent
ends, the kubelet removes the driver (K8S:pkg/volume/csi/csi_plugin.go).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypeAlias

from jacquard.lab.rehearsal.operators.hosts import agents, nodes
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

CSI_NODE = ("storage.k8s.io/v1", "CSINode")
DRIVERS = frozenset(agent.driver for agent in agents.AGENTS.values() if agent.driver)
"""Drivers whose agents are simulated. All other drivers are assumed to be on each node."""
_K0S_ROOT = "/var/lib/k0s/kubelet"
"""Default of k0s (K0S:cmd/worker/worker.go)."""
_K0S_FLAG, _KUBEADM_ARGUMENT = "--kubelet-root-dir", "root-dir"
_Origins: TypeAlias = Callable[[], Mapping[tuple[str, str], nodes.Origin]]
"""Returns the origins of all nodes, which are read only if a node has joined, and once per round."""


class Registrations:
    """Registration of drivers with all kubelets of a region."""

    def __init__(self) -> None:
        """Start without known root directories."""
        self._roots: dict[str, str] = {}
        """Root directories of kubelets, by UID of the node."""

    def reconcile(self, management: View, cluster: str, view: View) -> None:
        """Update the CSINodes of one cluster from the running agents of its drivers."""
        releases = [entry for entry in agents.installed(management, cluster) if entry[0].driver]
        wanted: dict[str, set[str]] = defaultdict(set)
        origins = cache(partial(nodes.origins, management))
        for agent, _, pod in agents.running(view, releases):
            name = pod["spec"]["nodeName"]
            node = view.find("v1", "Node", name)
            if node and self._finds(origins, cluster, node, agents.host_paths(pod["spec"])):
                wanted[name].add(agent.driver)
        for body in list(view.all(*CSI_NODE)) if releases or self._roots else ():
            _update(view, body, wanted.pop(body["metadata"]["name"], set()))
        for name, drivers in wanted.items():
            _create(view, name, drivers)

    def _finds(self, origins: _Origins, cluster: str, node: Object, paths: list[str]) -> bool:
        """Return whether one of the host ``paths`` of an agent is the registration folder of the node's kubelet."""
        folders = {path.rstrip("/") for path in paths if path.rstrip("/").endswith(f"/{agents.REGISTRATION}")}
        uid = node["metadata"]["uid"]
        if folders and uid not in self._roots:
            origin = origins().get((cluster, node["metadata"]["name"]))
            if origin is None or not origin.config:
                return False  # the host is being released
            self._roots[uid] = kubelet_root(origin.config)
        return bool(folders) and f"{self._roots[uid]}/{agents.REGISTRATION}" in folders


def kubelet_root(config: Object) -> str:
    """Return the root directory of the kubelet that joins with a bootstrap ``config``."""
    if config.get("kind") == nodes.K0S_WORKER[1]:
        arguments = dict(argument.partition("=")[::2] for argument in dig(config, "spec", "args") or ())
        return str(arguments.get(_K0S_FLAG) or _K0S_ROOT).rstrip("/")
    extra = dig(config, "spec", "joinConfiguration", "nodeRegistration", "kubeletExtraArgs") or ()
    values = {entry["name"]: entry.get("value") for entry in extra}
    return str(values.get(_KUBEADM_ARGUMENT) or agents.KUBELET_ROOT).rstrip("/")


def is_registered(view: View, node: str, driver: str) -> bool:
    """Return whether ``driver`` is registered on ``node``, or is a driver whose agent is not simulated."""
    if driver not in DRIVERS:
        return True
    return any(entry["name"] == driver for entry in dig(view.find(*CSI_NODE, node), "spec", "drivers") or ())


def _update(view: View, body: Object, drivers: set[str]) -> None:
    registered = dig(body, "spec", "drivers") or []
    kept = [entry for entry in registered if entry["name"] not in DRIVERS or entry["name"] in drivers]
    added = sorted(drivers - {entry["name"] for entry in kept})
    if added or len(kept) < len(registered):
        entries = [*kept, *(_entry(driver, body["metadata"]["name"]) for driver in added)]
        view.patch(body, {"spec": {"drivers": entries}})


def _create(view: View, name: str, drivers: set[str]) -> None:
    node = view.find("v1", "Node", name)
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": dig(node, "metadata", "uid")}
    view.create(
        {
            "apiVersion": CSI_NODE[0],
            "kind": CSI_NODE[1],
            "metadata": {"name": name, "ownerReferences": [owner]},
            "spec": {"drivers": [_entry(driver, name) for driver in sorted(drivers)]},
        }
    )


def _entry(driver: str, node: str) -> Object:
    return {"name": driver, "nodeID": node, "topologyKeys": None}
