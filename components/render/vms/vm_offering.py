"""VM offering of one cluster: operators, sizes, images, platform VMs.

The order of objects matters: the operators of KubeVirt and CDI install their CRDs only after their custom resource is
created. `up` therefore waits for both before it applies the catalogue.
"""

from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.add_ons.add_on_monitors import prometheus_account
from components.render.manifest import Manifest, Readiness, Rendered
from components.render.objects import given, manifest, namespace
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.render.vms.virtual_machine import EVICTION, Machine, virtual_machine
from components.render.vms.vm_images import NAMESPACE, golden_images
from components.render.vms.vm_placement import disk_placement, services_placement, vm_placement
from components.render.vms.vm_quota import vm_quota
from components.render.vms.vm_sizes import instancetype, preference
from components.render.vms.vm_snapshots import VmSnapshots, vm_snapshots
from components.render.vms.vm_volumes import storage_profiles
from components.specs.add_ons.add_ons import AddOn
from components.specs.base import DnsLabel
from components.specs.pools.node_pool import TaintSpec
from components.specs.region.tenant import QuotasSpec
from components.specs.region.versions import Chart
from components.specs.storage.storage import StorageClassSpec
from components.specs.struct import Struct, field, replace
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_chart import ChartAddressSpec
from components.specs.vms.vm_offering import VmImage
from components.specs.vms.vm_sizes import VmSizeSpec

_KUBEVIRT = Operator(
    chart="kubevirt-operator",
    namespace="kubevirt",
    # Upstream's manifest requires a node with the label of control planes, which no tenant cluster has
    # (KV:pkg/virt-operator/resource/placement/placement.go).
    pods={"affinity": {"nodeAffinity": None}},
)
_CDI = Operator(chart="cdi-operator", namespace="cdi")
VM_OPERATORS = (_KUBEVIRT, _CDI)
"""Operators of a cluster with VMs, in installation order."""
_MIGRATIONS = 5
"""Upstream's maximum number of simultaneous migrations in a cluster (KV:pkg/virt-config/virt-config.go)."""
_DEPLOYED = Readiness(conditions=("jsonpath={.status.phase}=Deployed",), timeout_seconds=1800)


class VmOfferingInput(Struct):
    """VM offering of one cluster."""

    name: str
    cluster: str
    tenant: str
    pools: tuple[str, ...]
    """Names of the pools whose nodes run VMs."""
    taints: tuple[TaintSpec, ...]
    """Taints of the nodes that run VMs."""
    system_pool: bool
    """Whether the cluster has a pool with role system."""
    sizes: tuple[VmSizeSpec, ...]
    images: tuple[VmImage, ...]
    image_storage_class: DnsLabel
    classes: Mapping[str, StorageClassSpec]
    """Storage classes that the cluster offers, by name."""
    machines: tuple[Machine, ...]
    """VMs of the platform, and VMs declared in the tenant's data."""
    public_addresses: Mapping[str, ChartAddressSpec]
    """Public addresses of VMs that the tenant orders through the API, by VM name."""
    quotas: QuotasSpec
    """Quotas of the tenant."""
    migrations_per_node: int
    """Maximum number of VMs that migrate simultaneously from one node."""
    drained_nodes: int
    """Maximum number of nodes with VMs that rollouts drain simultaneously."""
    emulation: bool = False
    """Whether VMs use software emulation on nodes without hardware virtualization."""
    snapshots: VmSnapshots | None = None
    """Snapshot schedule of VMs; None without snapshots."""
    monitoring: AddOn | None = None
    """Add-on of the cluster that provides monitoring; None without such an add-on."""
    by_manifests: ByManifests = field(default_factory=ByManifests)
    """Operators that are installed from manifests."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of one cluster's offering, in the order in which they are applied."""
        cluster = self.cluster
        preferences = {system: preference(cluster, system) for system in self.systems}
        sizes = {size.name: instancetype(cluster, size) for size in self.sizes}
        roots = tuple(dict.fromkeys(size.root_disk for size in self.sizes))
        golden = (self.image_storage_class, len(self.images) * roots)
        placement = services_placement(system_pool=self.system_pool)
        placed = [replace(operator, pods={**operator.pods, **placement}) for operator in VM_OPERATORS]
        return (
            *(namespace(operator.namespace, cluster=cluster) for operator in VM_OPERATORS),
            namespace(NAMESPACE, labels={keys.TENANT: self.tenant}, cluster=cluster),
            *vm_quota(cluster, self.quotas, self.sizes, self.machines, golden),
            *installed_in(placed, self.by_manifests, cluster, self.pins),
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
        """Return the guest operating systems of the cluster: Linux, and the operating systems of its images."""
        offered = {image.os for image in self.images}
        return tuple(system for system in GuestSystem if system is GuestSystem.LINUX or system in offered)


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
                # By default virt-operator would install an additional catalogue.
                "commonInstancetypesDeployment": {"enabled": False},
                "instancetype": {"referencePolicy": "reference"},
                "evictionStrategy": EVICTION.value,
                "migrations": _migrations(offering),
                # By default, KubeVirt applies another size to a running machine, which it migrates for this.
                "vmRolloutStrategy": "Stage",
                "network": {"permitBridgeInterfaceOnPodNetwork": False},
                **given(
                    # TPM and firmware state of Windows are on shared storage, like golden volumes, to allow migration.
                    vmStateStorageClass=offering.image_storage_class
                    if GuestSystem.WINDOWS in offering.systems
                    else None,
                    developerConfiguration=_developer(offering),
                    permittedHostDevices=given(pciHostDevices=permitted),
                ),
            },
            **_monitors(offering.monitoring),
            "imagePullPolicy": "IfNotPresent",
            "infra": {"nodePlacement": services_placement(system_pool=offering.system_pool)},
            # All VMs, including VMs ordered by tenants, run only on nodes with KubeVirt's handler.
            "workloads": {"nodePlacement": vm_placement(offering.pools, offering.taints)},
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
            "workloadUpdateStrategy": {"workloadUpdateMethods": ["LiveMigrate"]},
        },
    )


def _migrations(offering: VmOfferingInput) -> dict[str, int]:
    """Return the limits of migrations. Upstream's limit of a cluster suffices for two drained nodes only.

    Further migrations wait (KV:pkg/virt-controller/watch/migration/migration.go, handleTargetPodCreation), and VMs that
    still wait at the end of the drain timeout are killed with their node.
    """
    per_node = offering.migrations_per_node
    return {
        "parallelMigrationsPerCluster": max(_MIGRATIONS, per_node * offering.drained_nodes),
        "parallelOutboundMigrationsPerNode": per_node,
    }


def _monitors(monitoring: AddOn | None) -> dict[str, Any]:
    """Return the fields with which KubeVirt's operator creates its monitors. By default it looks for other names."""
    account = prometheus_account(monitoring) if monitoring else None
    return {"monitorNamespace": monitoring.namespace, "monitorAccount": account} if monitoring and account else {}


def _developer(offering: VmOfferingInput) -> dict[str, Any]:
    """Return KubeVirt's developer settings. Detection of the kubelet's CPU manager requires a feature gate."""
    gates = ["CPUManager"] if any(size.dedicated_cpus for size in offering.sizes) else []
    return given(featureGates=gates, useEmulation=offering.emulation or None)


def _cdi(offering: VmOfferingInput) -> Manifest:
    system_pool = offering.system_pool
    return manifest(
        "cdi.kubevirt.io/v1beta1",
        "CDI",
        "cdi",
        cluster=offering.cluster,
        readiness=_DEPLOYED,
        spec={
            "config": {"featureGates": ["HonorWaitForFirstConsumer"]},
            "imagePullPolicy": "IfNotPresent",
            "infra": services_placement(system_pool=system_pool),
            "workload": disk_placement(offering.pools, offering.taints, system_pool=system_pool),
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
        },
    )
