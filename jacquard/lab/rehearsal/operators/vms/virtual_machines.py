"""Simulated controller of KubeVirt: a VirtualMachine with all its references gets an instance and reports its state."""

import zlib

from jacquard.lab.rehearsal.operators.references import Reference, missing
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.volumes import CDI
from jacquard.providers.kube.objects import dig

API = "kubevirt.io/v1"
_TYPES = "instancetype.kubevirt.io/v1beta1"
_PARTS = (
    Reference("spec.instancetype", _TYPES, "VirtualMachineClusterInstancetype"),
    Reference("spec.preference", _TYPES, "VirtualMachineClusterPreference"),
)
_VOLUMES = (
    Reference("spec.template.spec.volumes[].dataVolume", CDI, "DataVolume"),
    Reference("spec.template.spec.volumes[].persistentVolumeClaim.claimName", "v1", "PersistentVolumeClaim"),
    Reference("spec.template.spec.volumes[].ephemeral.persistentVolumeClaim.claimName", "v1", "PersistentVolumeClaim"),
    Reference("spec.template.spec.volumes[].cloudInitNoCloud.secretRef", "v1", "Secret"),
    Reference("spec.template.spec.volumes[].sysprep.secret", "v1", "Secret"),
    Reference("spec.template.spec.accessCredentials[].sshPublicKey.source.secret.secretName", "v1", "Secret"),
)
_STOPPED = ("Halted", "Manual")


def reconcile(view: View) -> None:
    """Update all virtual machines."""
    deployed = [item for item in view.all(API, "KubeVirt") if dig(item, "status", "phase") == "Deployed"]
    if not deployed:
        return  # KubeVirt is not installed
    handlers = [dig(item, "spec", "workloads", "nodePlacement") or {} for item in deployed]
    for instance in view.all(API, "VirtualMachineInstance"):
        if not deleting(instance) and dig(instance, "status", "phase") == "Scheduling":
            _schedule(view, instance, handlers)
    for machine in view.all(API, "VirtualMachine"):
        if not deleting(machine):
            _machine(view, machine)


def _schedule(view: View, instance: Object, handlers: list[Object]) -> None:
    """Bind an instance to a node with a handler of KubeVirt, like the scheduler binds the instance's launcher pod.

    Instance and handler must tolerate the taints of the node; the node selector of the instance applies.
    """
    placement = {"nodeSelector": instance["spec"].get("nodeSelector")}
    nodes = [
        node["metadata"]["name"]
        for node in view.all("v1", "Node")
        if _is_schedulable(node) and _tolerates(instance["spec"], node) and _admits(placement, node)
        if all(_admits(handler, node) and _tolerates(handler, node) for handler in handlers)
    ]
    if nodes and not dig(instance, "status", "nodeName"):
        chosen = nodes[zlib.crc32(instance["metadata"]["name"].encode()) % len(nodes)]
        view.patch(instance, {"status": {"nodeName": chosen}})


def _is_schedulable(node: Object) -> bool:
    conditions = dig(node, "status", "conditions") or ()
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not dig(node, "spec", "unschedulable") and not deleting(node)


def _admits(placement: Object, node: Object) -> bool:
    """Return whether a node placement of KubeVirt matches a node; only the operator In is supported."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (placement.get("nodeSelector") or {}).items()):
        return False
    required = dig(placement, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or ()
    return not terms or any(
        all(labels.get(rule["key"]) in rule["values"] for rule in term["matchExpressions"]) for term in terms
    )


def _tolerates(pod: Object, node: Object) -> bool:
    tolerated = {(entry.get("key"), entry.get("value") or "") for entry in pod.get("tolerations") or ()}
    taints = dig(node, "spec", "taints") or ()
    return all(
        (taint["key"], taint.get("value") or "") in tolerated
        for taint in taints
        if taint["effect"] != "PreferNoSchedule"
    )


def _machine(view: View, machine: Object) -> None:
    metadata, spec = machine["metadata"], machine["spec"]
    instance = view.find(API, "VirtualMachineInstance", metadata["name"], metadata["namespace"])
    if spec.get("runStrategy") in _STOPPED or spec.get("running") is False:
        if instance:
            view.delete(instance)
        _status(view, machine, "Stopping" if instance else "Stopped", instance, "")
        return
    if lacking := missing(view, machine, _PARTS):
        _status(view, machine, "Stopped", instance, "; ".join(lacking))
        return
    for template in spec.get("dataVolumeTemplates") or ():
        if view.find(CDI, "DataVolume", template["metadata"]["name"], metadata["namespace"]) is None:
            view.create(_data_volume(machine, template))
    if lacking := missing(view, machine, _VOLUMES):
        claims = any("PersistentVolumeClaim" in problem for problem in lacking)
        _status(
            view, machine, "ErrorPvcNotFound" if claims else "ErrorDataVolumeNotFound", instance, "; ".join(lacking)
        )
        return
    if not _filled(view, machine):
        _status(view, machine, "Provisioning", instance, "a volume is not filled yet")
        return
    if instance is None:
        view.create(_instance(machine))
    phase = dig(instance, "status", "phase")
    _status(view, machine, "Running" if phase == "Running" else "Starting", instance, "")


def _filled(view: View, machine: Object) -> bool:
    for volume in dig(machine, "spec", "template", "spec", "volumes") or ():
        claim = dig(volume, "persistentVolumeClaim", "claimName")
        claim = claim or dig(volume, "ephemeral", "persistentVolumeClaim", "claimName")
        name = dig(volume, "dataVolume", "name") or claim
        data = view.find(CDI, "DataVolume", name, machine["metadata"]["namespace"])
        if data is not None and dig(data, "status", "phase") != "Succeeded":
            return False
        body = view.find("v1", "PersistentVolumeClaim", claim, machine["metadata"]["namespace"])
        if claim and dig(body, "status", "phase") != "Bound":
            return False
    return True


def _status(view: View, machine: Object, printable: str, instance: Object | None, message: str) -> None:
    ready = dig(instance, "status", "phase") == "Running" and printable == "Running"
    condition = {"type": "Ready", "status": "True" if ready else "False", "reason": "" if ready else "GuestNotRunning"}
    conditions = [{**condition, "message": message}]
    generation = machine["metadata"]["generation"]
    status = {
        "created": instance is not None,
        "ready": ready,
        "printableStatus": printable,
        "observedGeneration": generation,
        "desiredGeneration": generation,
        "conditions": conditions,
    }
    if {key: dig(machine, "status", key) for key in status} != status:
        view.status(machine, status)


def _instance(machine: Object) -> Object:
    template = machine["spec"]["template"]
    return {
        "apiVersion": API,
        "kind": "VirtualMachineInstance",
        "metadata": {
            **{key: value for key, value in template.get("metadata", {}).items() if key in {"labels", "annotations"}},
            "name": machine["metadata"]["name"],
            "namespace": machine["metadata"]["namespace"],
            "ownerReferences": owned_by(machine),
        },
        "spec": template["spec"],
    }


def _data_volume(machine: Object, template: Object) -> Object:
    metadata = {**template["metadata"], "namespace": machine["metadata"]["namespace"]}
    return {
        "apiVersion": CDI,
        "kind": "DataVolume",
        "metadata": {**metadata, "ownerReferences": owned_by(machine)},
        "spec": template["spec"],
    }
