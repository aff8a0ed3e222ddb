"""Simulated maintenance of DPF around a flash: a DPU waits for its release, and then for a power cycle of its host.

Source, NVIDIA/doca-platform: ``internal/provisioning/controllers/dpunodemaintenance`` and ``.../dpunode``.
"""

from jacquard.lab.rehearsal.operators.network.dpus import API
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting
from jacquard.providers.kube.objects import dig

HOLD = "provisioning.dpu.nvidia.com/wait-for-external-nodeeffect"
REBOOT = "provisioning.dpu.nvidia.com/dpunode-external-reboot-required"
WAITING = "WaitingForManualPowerCycleOrReboot"
_HELD, _REBOOTING, _REBOOTED = "Node Effect", "Rebooting", "DPU Cluster Config"
_AT_WORK = {_HELD, "OS Installing", _REBOOTING, _REBOOTED}
_MAX_UNAVAILABLE = 50
"""Default of ``maxUnavailableDPUNodes`` in DPF's configuration."""


def reconcile(view: View) -> None:
    """Update all DPUs that wait for their release or a reboot, and delete unused maintenance objects."""
    in_maintenance = set()
    for dpu in view.all(API, "DPU"):
        node = view.find(API, "DPUNode", dpu["spec"]["dpuNodeName"], dpu["metadata"]["namespace"])
        phase = dig(dpu, "status", "phase")
        if deleting(dpu) or node is None or phase not in _AT_WORK:
            continue
        in_maintenance.add((dpu["metadata"]["namespace"], f"{node['metadata']['name']}-hold"))
        if phase == _HELD and dig(dpu, "spec", "nodeEffect", "hold"):
            _hold(view, dpu, node)
        elif phase == _REBOOTING:
            _reboot(view, dpu, node)
    for maintenance in view.all(API, "DPUNodeMaintenance"):
        if (maintenance["metadata"]["namespace"], maintenance["metadata"]["name"]) not in in_maintenance:
            view.delete(maintenance)


def _hold(view: View, dpu: Object, node: Object) -> None:
    name, namespace = f"{node['metadata']['name']}-hold", dpu["metadata"]["namespace"]
    maintenance = view.find(API, "DPUNodeMaintenance", name, namespace)
    if maintenance is None:
        spec = {
            "dpuNodeName": node["metadata"]["name"],
            "nodeEffect": dpu["spec"]["nodeEffect"],
            "requestor": [dpu["metadata"]["name"]],
        }
        notes = {HOLD: "true"} if _may_hold(view, dpu) else {}
        metadata = {"name": name, "namespace": namespace, "annotations": notes}
        view.create({"apiVersion": API, "kind": "DPUNodeMaintenance", "metadata": metadata, "spec": spec})
    elif dig(maintenance, "metadata", "annotations", HOLD) == "false":
        view.status(dpu, {"phase": "OS Installing"})
    elif dig(maintenance, "metadata", "annotations", HOLD) is None and _may_hold(view, dpu):
        view.patch(maintenance, {"metadata": {"annotations": {HOLD: "true"}}})


def _may_hold(view: View, dpu: Object) -> bool:
    """Return whether ``dpu`` may be held now: a node effect without ``force`` waits for other nodes in maintenance.

    Source, NVIDIA/doca-platform: ``dpunodemaintenance_controller.go``, checkMaxUnavailableAndSyncWaitTime.
    """
    if dig(dpu, "spec", "nodeEffect", "force"):
        return True
    namespace = dpu["metadata"]["namespace"]
    settings = view.find("operator.dpu.nvidia.com/v1alpha1", "DPFOperatorConfig", "dpfoperatorconfig", namespace)
    most = dig(settings, "spec", "provisioningController", "maxUnavailableDPUNodes") or _MAX_UNAVAILABLE
    others = (item["metadata"] for item in view.all(API, "DPUNodeMaintenance"))
    held = [other for other in others if other["namespace"] == namespace and HOLD in (other.get("annotations") or {})]
    return len(held) < int(most)


def _reboot(view: View, dpu: Object, node: Object) -> None:
    """Request a power cycle and wait; the power cycle is done when the request annotation is removed."""
    conditions_of_type = (entry for entry in dig(dpu, "status", "conditions") or () if entry["type"] == "Rebooted")
    rebooted: Object = next(conditions_of_type, {})
    if dig(node, "spec", "nodeRebootMethod", "external") is None:
        view.status(dpu, {"phase": _REBOOTED})
    elif REBOOT in (node["metadata"].get("annotations") or {}):
        if patch := conditions(dpu, Rebooted=("False", WAITING, "waiting for manual power cycle or reboot")):
            view.status(dpu, patch)
    elif rebooted.get("reason") == WAITING:
        view.status(dpu, {"phase": _REBOOTED})
    else:
        view.patch(node, {"metadata": {"annotations": {REBOOT: "true"}}})


def release(view: View) -> None:
    """Release maintenance holds and reboot requests of DPF, unless a CronJob exists in its namespace.

    This simulates a manual release: immediate, and independent of the workloads on the hosts.
    """
    served = {item["metadata"]["namespace"] for item in view.all("batch/v1", "CronJob")}
    for kind, key, done in (("DPUNodeMaintenance", HOLD, "false"), ("DPUNode", REBOOT, None)):
        for item in view.all(API, kind):
            value = (item["metadata"].get("annotations") or {}).get(key)
            if value == "true" and item["metadata"]["namespace"] not in served:
                view.patch(item, {"metadata": {"annotations": {key: done}}})
