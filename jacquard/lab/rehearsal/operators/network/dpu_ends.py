"""Simulated finalizers of DPF: each object remains until no other object depends on it.

Source, NVIDIA/doca-platform: ``internal/dpuservice/controllers/dpudeployment_controller.go``,
``internal/dpuservicechain/controllers``, and for networks of OVN ``internal/vpc/ovn/controllers``, the controller of
the chart ``dpf-vpc-ovn``. Without this controller, the finalizers of VPCs and classes remain. The finalizer of a VPC
whose class does not exist remains even with the controller.
"""

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
"""Finalizer of a DPUDeployment and of the objects that it references."""
COPIED_HELD = {
    "DPUServiceInterface": "svc.dpu.nvidia.com/dpuserviceinterface",
    "DPUServiceIPAM": "svc.dpu.nvidia.com/dpuserviceipam",
}
"""Finalizers of objects that are copied to DPU clusters, by kind; a finalizer is removed after the copies are
deleted."""
_CONTROLLER = "dpf-vpc-ovn"
"""Chart of the controller of OVN networks."""
_NAMED = {
    "spec.dpus.bfb": (API, "BFB"),
    "spec.dpus.flavor": (API, "DPUFlavor"),
    "spec.services[].serviceTemplate": (SERVICES, "DPUServiceTemplate"),
    "spec.services[].serviceConfiguration": (SERVICES, "DPUServiceConfiguration"),
}
"""References of a DPUDeployment, by field."""
_Key: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


def reconcile(view: View) -> None:
    """Add the finalizers, and remove them from deleted objects without dependents."""
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
    interfaces = view.all(SERVICES, "DPUServiceInterface")
    ports = {port for interface in interfaces for port in _networks_of(interface)}
    vpcs = set()
    for network in view.all(VPC, "DPUVirtualNetwork"):
        metadata, vpc = network["metadata"], network["spec"]["vpcName"]
        vpcs.add((metadata["namespace"], vpc))
        if view.find(VPC, "DPUVPC", vpc, metadata["namespace"]):
            needed = (metadata["namespace"], metadata["name"]) in ports
            _keep(view, network, NETWORK_HELD, needed=needed)
    named = {vpc["spec"]["isolationClassName"] for vpc in view.all(VPC, "DPUVPC")}
    for isolation_class in view.all(VPC, "IsolationClass"):
        _keep(view, isolation_class, CLASS_HELD, needed=isolation_class["metadata"]["name"] in named)
    for vpc in view.all(VPC, "DPUVPC"):
        metadata = vpc["metadata"]
        if view.find(VPC, "IsolationClass", vpc["spec"]["isolationClassName"]):
            _keep(view, vpc, VPC_HELD, needed=(metadata["namespace"], metadata["name"]) in vpcs)


def _networks_of(interface: Object) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the virtual networks of an interface."""
    spec = dig(interface, "spec", "template", "spec", "template", "spec") or {}
    for form in ("pf", "vf"):
        if name := dig(spec, form, "virtualNetwork"):
            yield interface["metadata"]["namespace"], name


def _hold_deployments(view: View) -> None:
    named: set[_Key] = set()
    for deployment in view.all(SERVICES, "DPUDeployment"):
        ended = deleting(deployment) and not _end(view, deployment)
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


def _end(view: View, deployment: Object) -> bool:
    """Delete the DPUSets of a DPUDeployment, and return whether a DPUSet or DPU is left."""
    metadata = deployment["metadata"]
    label = f"{metadata['namespace']}_{metadata['name']}"
    remaining = [
        obj
        for kind in ("DPUSet", "DPU")
        for obj in view.all(API, kind)
        if (obj["metadata"].get("labels") or {}).get(DEPLOYMENT_LABEL) == label
    ]
    for obj in remaining:
        if obj["kind"] == "DPUSet" and not deleting(obj):
            view.delete(obj)
    return bool(remaining)
