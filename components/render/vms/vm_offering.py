"""What can be ordered as a virtual machine in one cluster: operators, sizes, images, platform VMs.

Order is a constraint: KubeVirt's and CDI's operators make all further kinds only once they see their own object, so
both are awaited before the catalogue follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness, Rendered
from components.render.objects import given, manifest, namespace
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.render.vms.virtual_machine import EVICTION, Machine, virtual_machine
from components.render.vms.vm_images import NAMESPACE, golden_images
from components.render.vms.vm_placement import services_placement, vm_placement
from components.render.vms.vm_quota import vm_quota
from components.render.vms.vm_sizes import instancetype, preference
from components.render.vms.vm_snapshots import VmSnapshots, vm_snapshots
from components.render.vms.vm_volumes import storage_profiles
from components.specs.base import DnsLabel
from components.specs.pools.node_pool import TaintSpec
from components.specs.region.tenant import QuotasSpec
from components.specs.region.versions import Chart
from components.specs.storage.storage import StorageClassSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_chart import ChartAddressSpec
from components.specs.vms.vm_offering import VmImage
from components.specs.vms.vm_sizes import VmSizeSpec

_KUBEVIRT = Operator(chart="kubevirt-operator", namespace="kubevirt")
_CDI = Operator(chart="cdi-operator", namespace="cdi")
VM_OPERATORS = (_KUBEVIRT, _CDI)
"""What a cluster with VMs needs, in the order it is installed."""
_DEPLOYED = Readiness(conditions=("jsonpath={.status.phase}=Deployed",), timeout_seconds=1800)


@dataclass(frozen=True, slots=True, kw_only=True)
class VmOfferingInput:
    """What one cluster offers."""

    name: str
    cluster: str
    tenant: str
    pools: tuple[str, ...]
    """Names of the pools whose nodes run VMs."""
    taints: tuple[TaintSpec, ...]
    """Taints of these nodes."""
    system_pool: bool
    """Whether the cluster has nodes for its own services."""
    sizes: tuple[VmSizeSpec, ...]
    images: tuple[VmImage, ...]
    image_storage_class: DnsLabel
    classes: Mapping[str, StorageClassSpec]
    """Storage classes that the cluster offers, by name."""
    machines: tuple[Machine, ...]
    """VMs of the platform's own, and those that the tenant ordered as data."""
    public_addresses: Mapping[str, ChartAddressSpec]
    """Public addresses of VMs that the tenant orders through the API, by name of the VM."""
    quotas: QuotasSpec
    """Most that the tenant may have."""
    emulation: bool = False
    """Whether VMs run in software on nodes without virtualisation."""
    snapshots: VmSnapshots | None = None
    """When snapshots of VMs are taken; None where none are."""
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """Which operators come by manifests."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of one cluster's offering, in the order they are applied."""
        cluster = self.cluster
        preferences = {system: preference(cluster, system) for system in self.systems}
        sizes = {size.name: instancetype(cluster, size) for size in self.sizes}
        roots = tuple(dict.fromkeys(size.root_disk for size in self.sizes))
        golden = (self.image_storage_class, len(self.images) * roots)
        return (
            *(namespace(operator.namespace, cluster=cluster) for operator in VM_OPERATORS),
            namespace(NAMESPACE, labels={keys.TENANT: self.tenant}, cluster=cluster),
            *vm_quota(cluster, self.quotas, self.sizes, self.machines, golden),
            *installed_in(VM_OPERATORS, self.by_manifests, cluster, self.pins),
            _kubevirt(self),
            _cdi(self),
            storage_profiles(cluster, self.classes.values()),
            *sizes.values(),
            *preferences.values(),
            *golden_images(cluster, self.images, roots, self.image_storage_class, preferences),
            *(
                item
                for machine in self.machines
                for item in virtual_machine(
                    cluster,
                    machine,
                    sizes[machine.size.name].name,
                    preferences[machine.image.os].name,
                    self.taints,
                )
            ),
            *(vm_snapshots(cluster, self.snapshots, system_pool=self.system_pool) if self.snapshots else ()),
        )

    @property
    def systems(self) -> tuple[GuestSystem, ...]:
        """Return what guests run in the cluster: Linux, and what else images have."""
        found = {image.os for image in self.images}
        return tuple(system for system in GuestSystem if system is GuestSystem.LINUX or system in found)


def _kubevirt(offering: VmOfferingInput) -> Manifest:
    devices = {size.gpu.device: size.gpu.pci_selector for size in offering.sizes if size.gpu is not None}
    permitted = [{"pciVendorSelector": selector, "resourceName": device} for device, selector in devices.items()]
    return manifest(
        "kubevirt.io/v1",
        "KubeVirt",
        "kubevirt",
        namespace=_KUBEVIRT.namespace,
        cluster=offering.cluster,
        readiness=_DEPLOYED,
        spec={
            "configuration": {
                # Left to the default, virt-operator would bring a second catalogue beside ours.
                "commonInstancetypesDeployment": {"enabled": False},
                "instancetype": {"referencePolicy": "reference"},
                "evictionStrategy": EVICTION.value,
                "network": {"permitBridgeInterfaceOnPodNetwork": False},
                **given(
                    # What Windows keeps of its TPM and firmware: as shared as the golden volumes, so that it migrates.
                    vmStateStorageClass=offering.image_storage_class
                    if GuestSystem.WINDOWS in offering.systems
                    else None,
                    developerConfiguration=_developer(offering),
                    permittedHostDevices=given(pciHostDevices=permitted),
                ),
            },
            "imagePullPolicy": "IfNotPresent",
            "infra": {"nodePlacement": services_placement(system_pool=offering.system_pool)},
            # KubeVirt runs VMs where its handler runs, whoever orders them.
            "workloads": {"nodePlacement": vm_placement(offering.pools, offering.taints)},
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
            "workloadUpdateStrategy": {"workloadUpdateMethods": ["LiveMigrate"]},
        },
    )


def _developer(offering: VmOfferingInput) -> dict[str, Any]:
    """Return what KubeVirt takes for unfinished: handlers look for a kubelet's CPU manager behind a feature gate."""
    gates = ["CPUManager"] if any(size.dedicated_cpus for size in offering.sizes) else []
    return given(featureGates=gates, useEmulation=offering.emulation or None)


def _cdi(offering: VmOfferingInput) -> Manifest:
    placement = services_placement(system_pool=offering.system_pool)
    return manifest(
        "cdi.kubevirt.io/v1beta1",
        "CDI",
        "cdi",
        cluster=offering.cluster,
        readiness=_DEPLOYED,
        spec={
            "config": {"featureGates": ["HonorWaitForFirstConsumer"]},
            "imagePullPolicy": "IfNotPresent",
            "infra": placement,
            "workload": placement,
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
        },
    )
