"""Jacquard: a GPU cloud region as code.

The public API: components and their arguments, specs of the data, and the functions `load_environment`, `check`,
`inputs`, `render` and `impact`. Every other module is internal and may change in any release.

A name is imported on first use, because the set-up command runs on a Python without any dependency.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from components.add_ons import AddOns, Flux, PodPriorities
    from components.component import ComponentArgs
    from components.control_planes import ClusterAccess, ClusterNamespaces, HostedControlPlane, RequestPriority
    from components.fleet import Delegation
    from components.hosts import Inventory
    from components.network import TenantNetwork
    from components.pools import ClusterAutoscaler, NodePool
    from components.region import Admission, ClusterDns, Engine, ExternalSecrets, Isolation, Region
    from components.render.add_ons.add_ons import AddOnsInput
    from components.render.add_ons.flux import FluxInput
    from components.render.add_ons.pod_priorities import PodPrioritiesInput
    from components.render.control_planes.cluster_access import ClusterAccessInput
    from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput
    from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
    from components.render.control_planes.request_priority import RequestPriorityInput
    from components.render.extensions import ExtensionInput
    from components.render.fleet.delegation import DelegationInput
    from components.render.hosts.inventory import InventoryInput
    from components.render.manifest import Manifest
    from components.render.network.tenant_network import TenantNetworkInput
    from components.render.pools.cluster_autoscaler import ClusterAutoscalerInput
    from components.render.pools.node_pool import NodePoolInput
    from components.render.region.admission import AdmissionInput
    from components.render.region.dns import ClusterDnsInput
    from components.render.region.engine.engine import EngineInput
    from components.render.region.external_secrets import ExternalSecretsInput
    from components.render.region.isolation import IsolationInput
    from components.render.region.region import RegionInput
    from components.render.storage.buckets import BucketsInput
    from components.render.storage.seaweedfs import ProvisionedBucketsInput
    from components.render.storage.storage import StorageCatalogInput
    from components.render.vms.vm_offering import VmOfferingInput
    from components.render.workloads.queues import QueuesInput
    from components.render.workloads.serving import ServingInput
    from components.render.workloads.slurm import SlurmInput
    from components.resources import Cluster
    from components.specs.control_planes.hosted_control_plane import ClusterSpec
    from components.specs.environment import Environment
    from components.specs.network.tenant_network import VpcSpec
    from components.specs.pools.node_pool import NodePoolSpec
    from components.specs.reading.loader import load_environment
    from components.specs.reading.problems import Problem, SpecError
    from components.specs.region.region import RegionSpec
    from components.specs.region.tenant import TenantSpec
    from components.storage import Buckets, ProvisionedBuckets, StorageCatalog
    from components.vms import VmOffering
    from components.workloads import Queues, Serving, Slurm
    from jacquard.api import check, impact, inputs, render
    from jacquard.previews.impacts.impact import Impact

_HOMES = {
    "components.add_ons": ("AddOns", "Flux", "PodPriorities"),
    "components.component": ("ComponentArgs",),
    "components.control_planes": ("ClusterAccess", "ClusterNamespaces", "HostedControlPlane", "RequestPriority"),
    "components.fleet": ("Delegation",),
    "components.hosts": ("Inventory",),
    "components.network": ("TenantNetwork",),
    "components.pools": ("ClusterAutoscaler", "NodePool"),
    "components.region": ("Admission", "ClusterDns", "Engine", "ExternalSecrets", "Isolation", "Region"),
    "components.render.add_ons.add_ons": ("AddOnsInput",),
    "components.render.add_ons.flux": ("FluxInput",),
    "components.render.add_ons.pod_priorities": ("PodPrioritiesInput",),
    "components.render.control_planes.cluster_access": ("ClusterAccessInput",),
    "components.render.control_planes.cluster_namespaces": ("ClusterNamespacesInput",),
    "components.render.control_planes.hosted_control_plane": ("HostedControlPlaneInput",),
    "components.render.control_planes.request_priority": ("RequestPriorityInput",),
    "components.render.extensions": ("ExtensionInput",),
    "components.render.fleet.delegation": ("DelegationInput",),
    "components.render.hosts.inventory": ("InventoryInput",),
    "components.render.manifest": ("Manifest",),
    "components.render.network.tenant_network": ("TenantNetworkInput",),
    "components.render.pools.cluster_autoscaler": ("ClusterAutoscalerInput",),
    "components.render.pools.node_pool": ("NodePoolInput",),
    "components.render.region.dns": ("ClusterDnsInput",),
    "components.render.region.engine.engine": ("EngineInput",),
    "components.render.region.external_secrets": ("ExternalSecretsInput",),
    "components.render.region.admission": ("AdmissionInput",),
    "components.render.region.isolation": ("IsolationInput",),
    "components.render.region.region": ("RegionInput",),
    "components.render.storage.buckets": ("BucketsInput",),
    "components.render.storage.seaweedfs": ("ProvisionedBucketsInput",),
    "components.render.storage.storage": ("StorageCatalogInput",),
    "components.render.vms.vm_offering": ("VmOfferingInput",),
    "components.render.workloads.slurm": ("SlurmInput",),
    "components.resources": ("Cluster",),
    "components.render.workloads.queues": ("QueuesInput",),
    "components.render.workloads.serving": ("ServingInput",),
    "components.specs.control_planes.hosted_control_plane": ("ClusterSpec",),
    "components.specs.environment": ("Environment",),
    "components.specs.network.tenant_network": ("VpcSpec",),
    "components.specs.pools.node_pool": ("NodePoolSpec",),
    "components.specs.reading.loader": ("load_environment",),
    "components.specs.reading.problems": ("Problem", "SpecError"),
    "components.specs.region.region": ("RegionSpec",),
    "components.specs.region.tenant": ("TenantSpec",),
    "components.storage": ("Buckets", "ProvisionedBuckets", "StorageCatalog"),
    "components.vms": ("VmOffering",),
    "components.workloads": ("Queues", "Serving", "Slurm"),
    "jacquard.api": ("check", "impact", "inputs", "render"),
    "jacquard.previews.impacts.impact": ("Impact",),
}
__all__ = [
    "AddOns",
    "AddOnsInput",
    "Admission",
    "AdmissionInput",
    "Buckets",
    "BucketsInput",
    "Cluster",
    "ClusterAccess",
    "ClusterAccessInput",
    "ClusterAutoscaler",
    "ClusterAutoscalerInput",
    "ClusterDns",
    "ClusterDnsInput",
    "ClusterNamespaces",
    "ClusterNamespacesInput",
    "ClusterSpec",
    "ComponentArgs",
    "Delegation",
    "DelegationInput",
    "Engine",
    "EngineInput",
    "Environment",
    "ExtensionInput",
    "ExternalSecrets",
    "ExternalSecretsInput",
    "Flux",
    "FluxInput",
    "HostedControlPlane",
    "HostedControlPlaneInput",
    "Impact",
    "Inventory",
    "InventoryInput",
    "Isolation",
    "IsolationInput",
    "Manifest",
    "NodePool",
    "NodePoolInput",
    "NodePoolSpec",
    "PodPriorities",
    "PodPrioritiesInput",
    "Problem",
    "ProvisionedBuckets",
    "ProvisionedBucketsInput",
    "Queues",
    "QueuesInput",
    "Region",
    "RegionInput",
    "RegionSpec",
    "RequestPriority",
    "RequestPriorityInput",
    "Serving",
    "ServingInput",
    "Slurm",
    "SlurmInput",
    "SpecError",
    "StorageCatalog",
    "StorageCatalogInput",
    "TenantNetwork",
    "TenantNetworkInput",
    "TenantSpec",
    "VmOffering",
    "VmOfferingInput",
    "VpcSpec",
    "check",
    "impact",
    "inputs",
    "load_environment",
    "render",
]


def __getattr__(name: str) -> object:
    """Return a name of the public API from the module that defines it."""
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(module), name)
            setattr(sys.modules[__name__], name, value)
            return value
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """Return the names of the public API."""
    return sorted(__all__)
