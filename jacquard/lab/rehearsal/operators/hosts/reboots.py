"""Simulated kubelets of hosts whose power is switched: a kubelet stops with its host and starts again after the boot.

A node without its kubelet has the conditions that the node lifecycle controller writes
(kubernetes/kubernetes:pkg/controller/nodelifecycle/node_lifecycle_controller.go). They are written as soon as the power
is off, not after the grace period of 50 s: a real boot takes longer. The taints of the conditions and the eviction of
pods come from the real controller manager of the cluster. After the boot, the kubelet reports a new boot ID and the
event ``Rebooted`` (pkg/kubelet/kubelet_node_status.go).

Not simulated: restarts of the containers on the node. Terminating pods on a stopped node end as with a running kubelet;
upstream, the garbage collector of pods deletes them, only on nodes with the taint ``out-of-service``.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from jacquard.lab.rehearsal.kwok_configuration import NODES
from jacquard.lab.rehearsal.operators.events import warning
from jacquard.lab.rehearsal.operators.hosts import nodes
from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.view import Object, View, now
from jacquard.machine import settings
from jacquard.providers.kube.objects import dig

BOOT_SECONDS = 6.0
"""Time from power on to the start of the kubelet, at a speed of 1."""
_SIMULATED, _FAKE = NODES.split("=")
"""Annotation of nodes with a running simulated kubelet; the simulator ignores other nodes."""
_BY_KUBELET = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_UNKNOWN = {"status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}


@dataclass(frozen=True, slots=True)
class _Boot:
    """A boot of a host after its power was off."""

    since: float = field(default_factory=time.monotonic)
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))


class Reboots:
    """The kubelets of a region's hosts, with the boots in progress."""

    def __init__(self) -> None:
        """Start without boots; a boot in progress starts again."""
        self._boots: dict[tuple[str, str], _Boot] = {}
        self._may_be_stopped = True
        """Whether kubelets may be stopped; otherwise, only hosts are read."""

    def reconcile(self, management: View, hosted: Callable[[str], View | None]) -> None:
        """Stop the kubelets of hosts without power, and start those of booted hosts.

        Args:
            management: The management cluster.
            hosted: Returns the API server of a cluster.
        """
        if not self._may_be_stopped and not any(_is_off(host) for host in management.all(*HOST)):
            return
        self._may_be_stopped = False
        for (cluster, name), origin in nodes.origins(management).items():
            view = hosted(cluster)
            node = view.find("v1", "Node", name) if view else None
            if view is None or node is None:
                self._may_be_stopped |= view is None
                continue
            self._may_be_stopped |= not (origin.is_on and has_kubelet(node))
            if not origin.is_on:
                self._boots.pop((cluster, name), None)
                _stop(view, node)
            elif not has_kubelet(node):
                boot = self._boots.setdefault((cluster, name), _Boot())
                if time.monotonic() - boot.since >= BOOT_SECONDS / settings.speed():
                    _start(view, node, boot.boot_id)
            else:
                self._boots.pop((cluster, name), None)


def _is_off(host: Object) -> bool:
    is_provisioned = dig(host, "status", "provisioning", "state") == "provisioned"
    return is_provisioned and dig(host, "status", "poweredOn") is False


def has_kubelet(node: Object) -> bool:
    """Return whether the simulated kubelet of a node runs."""
    return (node["metadata"].get("annotations") or {}).get(_SIMULATED) == _FAKE


def _stop(view: View, node: Object) -> None:
    """Stop the kubelet, then report this in the conditions that it updated."""
    conditions = dig(node, "status", "conditions") or []
    if has_kubelet(node):
        view.patch(node, {"metadata": {"annotations": {_SIMULATED: None}}})
    elif any(_is_current(condition) for condition in conditions):
        moment = now()
        lost = [
            {**condition, **_UNKNOWN, "lastTransitionTime": moment} if _is_current(condition) else condition
            for condition in conditions
        ]
        view.status(node, {"conditions": lost})


def _is_current(condition: Object) -> bool:
    return condition["type"] in _BY_KUBELET and condition["status"] != _UNKNOWN["status"]


def _start(view: View, node: Object, boot_id: str) -> None:
    """Report the new boot, then start the kubelet, which reports its conditions again (stages/nodes.yaml)."""
    if dig(node, "status", "nodeInfo", "bootID") != boot_id:
        name = node["metadata"]["name"]
        message = f"Node {name} has been rebooted, boot id: {boot_id}"
        view.status(node, {"nodeInfo": {"bootID": boot_id}})
        view.create(warning(node, "Rebooted", message, component="kubelet", host=name))
    else:
        view.patch(node, {"metadata": {"annotations": {_SIMULATED: _FAKE}}})
