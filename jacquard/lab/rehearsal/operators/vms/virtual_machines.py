"""Simulated controller of KubeVirt: a VirtualMachine with all its references gets an instance and reports its state."""

import zlib

from components.lookups.scheduling import unscheduled
from jacquard.lab.rehearsal.operators.references import Reference, missing
from jacquard.lab.rehearsal.operators.storage.mounts import unregistered
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.importers import SELECTED_NODE, waits
from jacquard.lab.rehearsal.operators.vms.placement import is_schedulable, scheduling_node
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
            _machine(view, machine, handlers)


def _schedule(view: View, instance: Object, handlers: list[Object]) -> None:
    """Bind an instance to a node when its launcher pod can start there: all its volumes can be mounted."""
    if not dig(instance, "status", "nodeName") and (node := _node(view, instance, instance["spec"], handlers)):
        claims = _claims(view, instance["spec"], instance["metadata"]["namespace"])
        if not any(unregistered(view, node, claims)):
            view.patch(instance, {"status": {"nodeName": node}})


def _node(view: View, of: Object, spec: Object, handlers: list[Object]) -> str | None:
    """Return a node with a handler of KubeVirt for the instance ``spec`` of VM or instance ``of``; None if none fits.

    Selectors, affinity and tolerations of the instance and of the handlers apply. Volumes on disks of a node determine
    the node.
    """
    nodes = [
        node.name
        for node in map(scheduling_node, filter(is_schedulable, view.all("v1", "Node")))
        if not any(unscheduled(pod, node) for pod in (spec, *handlers))
    ]
    claims = _claims(view, spec, of["metadata"]["namespace"])
    selected = {(claim["metadata"].get("annotations") or {}).get(SELECTED_NODE) for claim in claims} - {None}
    nodes = [node for node in nodes if selected <= {node}]
    return nodes[zlib.crc32(of["metadata"]["name"].encode()) % len(nodes)] if nodes else None


def _claims(view: View, spec: Object, namespace: str) -> list[Object]:
    """Return the existing claims of the DataVolumes of the instance ``spec``."""
    names = (dig(volume, "dataVolume", "name") for volume in spec.get("volumes") or ())
    claims = (view.find("v1", "PersistentVolumeClaim", name, namespace) for name in names if name)
    return [claim for claim in claims if claim]


def _select_node(view: View, machine: Object, handlers: list[Object]) -> None:
    """Select the node of claims that wait for their first consumer, like the scheduler does for KubeVirt's pod."""
    spec = machine["spec"]["template"]["spec"]
    waiting = [claim for claim in _claims(view, spec, machine["metadata"]["namespace"]) if waits(view, claim)]
    node = _node(view, machine, spec, handlers) if waiting else None
    for claim in waiting if node else ():
        view.patch(claim, {"metadata": {"annotations": {SELECTED_NODE: node}}})


def _machine(view: View, machine: Object, handlers: list[Object]) -> None:
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
    _select_node(view, machine, handlers)
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
