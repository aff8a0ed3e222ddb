"""Simulated remediation of CAPM3: a Metal3Remediation reboots the host of an unhealthy Machine, and gives up at last.

Source, metal3-io/cluster-api-provider-metal3 1.13.2: ``controllers/metal3remediation_controller.go`` and
``baremetal/metal3remediation_manager.go``. Phases, annotations, the taint, conditions and retries are those of upstream
for a management cluster of Kubernetes 1.28 or newer, where CAPM3 taints the node instead of deleting it.
The real Cluster API creates the Metal3Remediation, and deletes it when the node is healthy again.

CAPM3 does not delete a Machine. After the last attempt, it sets ``OwnerRemediated``, but only among the deprecated
conditions (``status.deprecated.v1beta1``). The real Cluster API therefore decides whether the Machine is replaced.

Differences: timeouts are divided by ``JACQUARD_SPEED``; steps follow without upstream's pauses of 1 and 5 seconds.
Volume attachments, for which the taint waits as well, do not exist in a rehearsal.
"""

import datetime as dt
import json
from collections.abc import Callable
from functools import cache

from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST, POWER_CYCLE
from jacquard.lab.rehearsal.operators.hosts.claims import API, MACHINE
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, hold, let_go, now, owner
from jacquard.machine import settings
from jacquard.providers.kube.objects import dig

REMEDIATION = (API, "Metal3Remediation")
FINALIZER = "metal3remediation.infrastructure.cluster.x-k8s.io"
RUNNING, WAITING, DELETING, FAILED = "Running", "Waiting", "Deleting machine", "Failed"
UNHEALTHY = {"capm3.metal3.io/unhealthy": "capm3/UnhealthyNode"}
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
_HARD = json.dumps({"mode": "hard", "force": False}, separators=(",", ":"))
_DEFAULT_TIMEOUT_SECONDS = 600
_HOST = "metal3.io/BareMetalHost"
"""Annotation of a Metal3Machine with namespace and name of its host."""
_OWNER_REMEDIATED = {
    "type": "OwnerRemediated",
    "status": "False",
    "severity": "Warning",
    "reason": "WaitingForRemediation",
}


def reconcile(view: View, hosted: Callable[[str], View | None]) -> None:
    """Take the next step of each remediation.

    Args:
        view: The management cluster.
        hosted: Returns the API server of a cluster.
    """
    draining = cache(_draining)  # Pods are read once per cluster, not for each of many remediations.
    for remediation in view.all(*REMEDIATION):
        namespace = remediation["metadata"]["namespace"]
        machine = view.find(*MACHINE, owner(remediation, "Machine"), namespace)
        infrastructure = view.find(API, "Metal3Machine", dig(machine, "spec", "infrastructureRef", "name"), namespace)
        _, _, name = str(dig(infrastructure, "metadata", "annotations", _HOST) or "").rpartition("/")
        host = view.find(*HOST, name, namespace)
        if machine is not None and host is not None:
            _step(view, remediation, machine, host, hosted, draining)


def _step(
    view: View,
    remediation: Object,
    machine: Object,
    host: Object,
    hosted: Callable[[str], View | None],
    draining: Callable[[View], set[str]],
) -> None:
    phase = dig(remediation, "status", "phase")
    if not dig(host, "spec", "online"):
        if phase != FAILED:
            view.status(remediation, {"phase": FAILED})
        return
    if dig(remediation, "spec", "strategy", "type") != "Reboot":
        return
    if not phase:
        view.status(remediation, {"phase": RUNNING, "lastRemediated": now()})
        return
    cluster = hosted(dig(machine, "spec", "clusterName") or "")
    name = dig(machine, "status", "nodeRef", "name")
    if cluster is None or not name:
        return
    node = cluster.find("v1", "Node", name)
    if phase == RUNNING:
        _power_off(view, remediation, host, cluster, node, draining)
    elif phase == WAITING and not _restore(view, remediation, host, cluster, node) and _timed_out(remediation):
        _try_again(view, remediation, machine, host)


def _power_off(
    view: View,
    remediation: Object,
    host: Object,
    cluster: View,
    node: Object | None,
    draining: Callable[[View], set[str]],
) -> None:
    """Power off the host and remove the pods of its node."""
    if hold(view, remediation, FINALIZER):
        return
    if _request(remediation) not in _annotations(host):
        view.patch(host, {"metadata": {"annotations": {_request(remediation): _HARD}}})
    elif dig(host, "status", "poweredOn"):
        return
    elif node is not None and not _is_tainted(node):
        taints = [*(dig(node, "spec", "taints") or ()), {**OUT_OF_SERVICE, "timeAdded": now()}]
        cluster.patch(node, {"spec": {"taints": taints}})
    elif node is None or node["metadata"]["name"] not in draining(cluster):
        view.status(remediation, {"phase": WAITING})


def _restore(view: View, remediation: Object, host: Object, cluster: View, node: Object | None) -> bool:
    """Power on the host and admit pods to its node; return whether a step was taken or the power is still off."""
    if _request(remediation) in _annotations(host):
        view.patch(host, {"metadata": {"annotations": {_request(remediation): None}}})
    elif not dig(host, "status", "poweredOn"):
        return True
    elif node is None or FINALIZER not in (remediation["metadata"].get("finalizers") or ()):
        return False
    elif _is_tainted(node):
        taints = [taint for taint in node["spec"]["taints"] if not _is_out_of_service(taint)]
        cluster.patch(node, {"spec": {"taints": taints}})
    else:
        let_go(view, remediation, FINALIZER)
    return True


def _timed_out(remediation: Object) -> bool:
    last = dig(remediation, "status", "lastRemediated")
    seconds = dig(remediation, "spec", "strategy", "timeoutSeconds") or _DEFAULT_TIMEOUT_SECONDS
    if not last:
        return False
    return dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(last) > dt.timedelta(seconds=seconds / settings.speed())


def _try_again(view: View, remediation: Object, machine: Object, host: Object) -> None:
    """Reboot the host again, or mark Machine and host as failed after the last attempt."""
    limit, count = (
        dig(remediation, "spec", "strategy", "retryLimit") or 0,
        dig(remediation, "status", "retryCount") or 0,
    )
    conditions = dig(machine, "status", "deprecated", "v1beta1", "conditions") or []
    others = [condition for condition in conditions if condition["type"] != _OWNER_REMEDIATED["type"]]
    if limit > 0 and limit != count:
        view.status(remediation, {"phase": RUNNING, "lastRemediated": now(), "retryCount": count + 1})
    elif not any(_OWNER_REMEDIATED.items() <= condition.items() for condition in conditions):
        marked = [*others, {**_OWNER_REMEDIATED, "lastTransitionTime": now()}]
        view.status(machine, {"deprecated": {"v1beta1": {"conditions": marked}}})
    elif not UNHEALTHY.keys() <= _annotations(host).keys():
        view.patch(host, {"metadata": {"annotations": UNHEALTHY}})
    else:
        view.status(remediation, {"phase": DELETING})


def _request(remediation: Object) -> str:
    """Return the annotation of the host that keeps its power off."""
    return f"{POWER_CYCLE}/metal3-remediation-{remediation['metadata']['uid']}"


def _annotations(host: Object) -> dict[str, str]:
    annotations: dict[str, str] = host["metadata"].get("annotations") or {}
    return annotations


def _is_tainted(node: Object) -> bool:
    return any(_is_out_of_service(taint) for taint in dig(node, "spec", "taints") or ())


def _is_out_of_service(taint: Object) -> bool:
    return all(taint.get(key) == OUT_OF_SERVICE[key] for key in ("key", "effect"))


def _draining(view: View) -> set[str]:
    """Return the names of the nodes on which pods are being deleted."""
    return {str(dig(pod, "spec", "nodeName")) for pod in view.all("v1", "Pod") if deleting(pod)}
