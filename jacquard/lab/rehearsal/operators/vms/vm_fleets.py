"""Simulated pool controller of KubeVirt: numbered VirtualMachines from a template, with their own volumes.

Machines are created and deleted like in KubeVirt with an opportunistic update: a changed template is written to
existing machines, which use the new template after their next restart.
"""

import copy

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.virtual_machines import API
from jacquard.providers.kube.objects import dig

POOLS = "pool.kubevirt.io/v1beta1"
_REVISION = "kubevirt.io/vm-pool-revision-name"
"""Label of a machine with the revision of its template."""


def reconcile(view: View) -> None:
    """Update all pools of virtual machines."""
    for pool in view.all(POOLS, "VirtualMachinePool"):
        if not deleting(pool):
            _fleet(view, pool)


def _fleet(view: View, pool: Object) -> None:
    metadata, wanted = pool["metadata"], dig(pool, "spec", "replicas")
    owned = {
        machine["metadata"]["name"]: machine
        for machine in view.all(API, "VirtualMachine")
        if any(owner["uid"] == metadata["uid"] for owner in machine["metadata"].get("ownerReferences") or ())
    }
    for number in range(wanted):
        machine = _machine(pool, number)
        existing = owned.pop(machine["metadata"]["name"], None)
        if existing is None:
            view.create(machine)
        elif dig(existing, "metadata", "labels", _REVISION) != machine["metadata"]["labels"][_REVISION]:
            view.patch(existing, {"metadata": {"labels": machine["metadata"]["labels"]}, "spec": machine["spec"]})
    for surplus in owned.values():
        view.delete(surplus)
    machines = [
        view.find(API, "VirtualMachine", f"{metadata['name']}-{n}", metadata["namespace"]) for n in range(wanted)
    ]
    status = {
        "replicas": sum(machine is not None for machine in machines),
        "readyReplicas": sum(dig(machine, "status", "ready") is True for machine in machines),
    }
    if {key: dig(pool, "status", key) for key in status} != status:
        view.status(pool, status)


def _machine(pool: Object, number: int) -> Object:
    """Return a machine of ``pool``; the names of the machine's volumes end with its number."""
    metadata, template = pool["metadata"], dig(pool, "spec", "virtualMachineTemplate")
    spec = copy.deepcopy(template["spec"])
    renamed = {}
    revision = f"{metadata['name']}-{metadata['generation']}"
    for volume in spec.get("dataVolumeTemplates") or ():
        name = volume["metadata"]["name"]
        volume["metadata"]["name"] = renamed[name] = f"{name}-{number}"
    for volume in dig(spec, "template", "spec", "volumes") or ():
        name = dig(volume, "dataVolume", "name")
        if name in renamed:
            volume["dataVolume"]["name"] = renamed[name]
    return {
        "apiVersion": API,
        "kind": "VirtualMachine",
        "metadata": {
            "labels": {**dig(template, "metadata", "labels"), _REVISION: revision},
            "name": f"{metadata['name']}-{number}",
            "namespace": metadata["namespace"],
            "ownerReferences": owned_by(pool),
        },
        "spec": spec,
    }
