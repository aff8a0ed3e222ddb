"""What DPF lets go of last: its finalizers keep each object until nothing is left that hangs on it.

Read in NVIDIA/doca-platform: ``internal/dpuservice/controllers/dpudeployment_controller.go``,
``internal/dpuservicechain/controllers``, and for networks of OVN ``internal/vpc/ovn/controllers`` of the controller
that its chart ``dpf-vpc-ovn`` runs. Without that controller nobody lets go of a VPC or a class, nor of a VPC whose
class is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from jacquard.lab.rehearsal.operators.network.dpus import API, DEPLOYMENT_LABEL, SERVICES
from jacquard.lab.rehearsal.operators.references import values
from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, hold, let_go
from jacquard.providers.kube.objects import dig

VPC = "vpc.dpu.nvidia.com/v1alpha1"
VPC_HELD = "ovn.vpc.dpu.nvidia.com/vpc-protection"
CLASS_HELD = "ovn.vpc.dpu.nvidia.com/isolationclass-protection"
NETWORK_HELD = "ovn.vpc.dpu.nvidia.com/virtualnetwork-protection"
DEPLOYMENT_HELD = "dpu.nvidia.com/dpudeployment"
"""Finalizer of a DPUDeployment, and of all that one names."""
COPIED_HELD = {
    "DPUServiceInterface": "svc.dpu.nvidia.com/dpuserviceinterface",
    "DPUServiceIPAM": "svc.dpu.nvidia.com/dpuserviceipam",
}
"""Finalizers of what is copied to DPU clusters, by kind: held until the copies are gone."""
_CONTROLLER = "dpf-vpc-ovn"
"""Chart of the controller of networks on OVN."""
_NAMED = {
    "spec.dpus.bfb": (API, "BFB"),
    "spec.dpus.flavor": (API, "DPUFlavor"),
    "spec.services[].serviceTemplate": (SERVICES, "DPUServiceTemplate"),
    "spec.services[].serviceConfiguration": (SERVICES, "DPUServiceConfiguration"),
}
"""What a DPUDeployment names, by field."""
_Key: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


def reconcile(view: View) -> None:
    """Hold what stays, and let go of what is deleted once nothing hangs on it."""
    if any(installed(view, _CONTROLLER)):
        _hold_networks(view)
    for kind, finalizer in COPIED_HELD.items():
        for copied in view.all(SERVICES, kind):
            _keep(view, copied, finalizer, needed=False)
    _hold_deployments(view)


def _keep(view: View, obj: Object, finalizer: str, *, needed: bool) -> None:
    if not deleting(obj):
        hold(view, obj, finalizer)
    elif not needed:
        let_go(view, obj, finalizer)


def _hold_networks(view: View) -> None:
    ports = {port for one in view.all(SERVICES, "DPUServiceInterface") for port in _networks_of(one)}
    vpcs = set()
    for network in view.all(VPC, "DPUVirtualNetwork"):
        metadata, vpc = network["metadata"], network["spec"]["vpcName"]
        vpcs.add((metadata["namespace"], vpc))
        if view.find(VPC, "DPUVPC", vpc, metadata["namespace"]):
            needed = (metadata["namespace"], metadata["name"]) in ports
            _keep(view, network, NETWORK_HELD, needed=needed)
    named = {vpc["spec"]["isolationClassName"] for vpc in view.all(VPC, "DPUVPC")}
    for one in view.all(VPC, "IsolationClass"):
        _keep(view, one, CLASS_HELD, needed=one["metadata"]["name"] in named)
    for vpc in view.all(VPC, "DPUVPC"):
        metadata = vpc["metadata"]
        if view.find(VPC, "IsolationClass", vpc["spec"]["isolationClassName"]):
            _keep(view, vpc, VPC_HELD, needed=(metadata["namespace"], metadata["name"]) in vpcs)


def _networks_of(interface: Object) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the virtual network that an interface is a port of."""
    spec = dig(interface, "spec", "template", "spec", "template", "spec") or {}
    for form in ("pf", "vf"):
        if name := dig(spec, form, "virtualNetwork"):
            yield interface["metadata"]["namespace"], name


def _hold_deployments(view: View) -> None:
    named: set[_Key] = set()
    for deployment in view.all(SERVICES, "DPUDeployment"):
        ended = deleting(deployment) and not _ends(view, deployment)
        _keep(view, deployment, DEPLOYMENT_HELD, needed=not ended)
        named.update(() if ended else _named(deployment))
    for api_version, kind in _NAMED.values():
        for obj in view.all(api_version, kind):
            if (kind, obj["metadata"]["namespace"], obj["metadata"]["name"]) not in named:
                let_go(view, obj, DEPLOYMENT_HELD)
            elif not deleting(obj):
                hold(view, obj, DEPLOYMENT_HELD)


def _named(deployment: Object) -> Iterator[_Key]:
    for path, (_, kind) in _NAMED.items():
        for name in values(deployment, path):
            yield kind, deployment["metadata"]["namespace"], name


def _ends(view: View, deployment: Object) -> bool:
    """Delete the sets of a DPUDeployment, and return whether any is left, or a DPU of one."""
    metadata = deployment["metadata"]
    label = f"{metadata['namespace']}_{metadata['name']}"
    of = [
        one
        for kind in ("DPUSet", "DPU")
        for one in view.all(API, kind)
        if (one["metadata"].get("labels") or {}).get(DEPLOYMENT_LABEL) == label
    ]
    for one in of:
        if one["kind"] == "DPUSet" and not deleting(one):
            view.delete(one)
    return bool(of)
