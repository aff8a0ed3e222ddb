"""What can be ordered as a virtual machine in one cluster: operators, sizes, images, platform VMs.

Order is a constraint: KubeVirt's and CDI's operators make all further kinds only once they see their own object, so
both are awaited before the catalogue follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import digest, given, manifest, namespace
from components.render.operators import Operator, tenant_release
from components.render.virtual_machine import NAMESPACE, Machine, root_volume, virtual_machine
from components.specs.base import DnsLabel
from components.specs.vm_offering import VmImageSpec, VmSizeSpec

_KUBEVIRT = Operator(chart="kubevirt-operator", namespace="kubevirt")
_CDI = Operator(chart="cdi-operator", namespace="cdi")
VM_OPERATORS = (_KUBEVIRT, _CDI)
"""What a cluster with VMs needs, in the order it is installed."""
_INSTANCETYPE = "instancetype.kubevirt.io/v1beta1"
_DEPLOYED = Readiness(conditions=("jsonpath={.status.phase}=Deployed",), timeout_seconds=1800)
_LINUX: dict[str, Any] = {
    "devices": {"preferredDiskBus": "virtio", "preferredInterfaceModel": "virtio", "preferredRng": {}},
    "features": {"preferredAcpi": {}, "preferredSmm": {"enabled": True}},
    "firmware": {"preferredEfi": {"secureBoot": False}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VmOfferingInput:
    """What one cluster offers."""

    name: str
    cluster: str
    tenant: str
    sizes: tuple[VmSizeSpec, ...]
    images: tuple[VmImageSpec, ...]
    image_storage_class: DnsLabel
    machines: tuple[Machine, ...]
    """VMs of the platform's own."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one cluster's offering, in the order they are applied."""
        cluster = self.cluster
        linux = _preference(cluster)
        sizes = {size.name: _instancetype(cluster, size) for size in self.sizes}
        return (
            *(namespace(operator.namespace, cluster=cluster) for operator in VM_OPERATORS),
            namespace(NAMESPACE, labels={keys.TENANT: self.tenant}, cluster=cluster),
            *(tenant_release(operator, cluster, awaited=True) for operator in VM_OPERATORS),
            _kubevirt(self),
            _cdi(cluster),
            *sizes.values(),
            linux,
            *(item for image in self.images for item in _image(self, image, linux)),
            *(
                item
                for machine in self.machines
                for item in virtual_machine(cluster, machine, sizes[machine.size.name].name, linux.name)
            ),
        )


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
                # A VM that cannot migrate must not hold up the drain of its node.
                "evictionStrategy": "LiveMigrateIfPossible",
                "network": {"permitBridgeInterfaceOnPodNetwork": False},
                **given(permittedHostDevices=given(pciHostDevices=permitted)),
            },
            "imagePullPolicy": "IfNotPresent",
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
            "workloadUpdateStrategy": {"workloadUpdateMethods": ["LiveMigrate"]},
        },
    )


def _cdi(cluster: str) -> Manifest:
    linux = {"nodeSelector": {"kubernetes.io/os": "linux"}}
    return manifest(
        "cdi.kubevirt.io/v1beta1",
        "CDI",
        "cdi",
        cluster=cluster,
        readiness=_DEPLOYED,
        spec={
            "config": {"featureGates": ["HonorWaitForFirstConsumer"]},
            "imagePullPolicy": "IfNotPresent",
            "infra": linux,
            "workload": linux,
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
        },
    )


def _instancetype(cluster: str, size: VmSizeSpec) -> Manifest:
    spec = {"cpu": {"guest": size.cpus}, "memory": {"guest": size.memory}, **given(gpus=_gpus(size))}
    return manifest(
        _INSTANCETYPE,
        "VirtualMachineClusterInstancetype",
        f"{size.name}-{digest(spec, 6)}",
        labels={keys.VM_SIZE: size.name},
        cluster=cluster,
        retain=True,
        spec=spec,
    )


def _gpus(size: VmSizeSpec) -> list[dict[str, str]]:
    if size.gpu is None:
        return []
    return [{"name": f"gpu{number}", "deviceName": size.gpu.device} for number in range(size.gpu.count)]


def _preference(cluster: str) -> Manifest:
    return manifest(
        _INSTANCETYPE,
        "VirtualMachineClusterPreference",
        f"linux-{digest(_LINUX, 6)}",
        cluster=cluster,
        retain=True,
        spec=_LINUX,
    )


def _image(offering: VmOfferingInput, image: VmImageSpec, preference: Manifest) -> tuple[Manifest, ...]:
    """Return the golden volume of ``image`` for each size of root disk, and the source that people order by name."""
    roots = tuple(dict.fromkeys(size.root_disk for size in offering.sizes))
    defaults = {
        "instancetype.kubevirt.io/default-preference": preference.name,
        "instancetype.kubevirt.io/default-preference-kind": preference.kind,
    }
    source = {"pvc": {"name": root_volume(image, roots[0]), "namespace": NAMESPACE}}
    return (
        *(_golden_volume(offering, image, root) for root in roots),
        manifest(
            "cdi.kubevirt.io/v1beta1",
            "DataSource",
            image.name,
            namespace=NAMESPACE,
            labels=defaults,
            cluster=offering.cluster,
            spec={"source": source},
        ),
    )


def _golden_volume(offering: VmOfferingInput, image: VmImageSpec, root: str) -> Manifest:
    return manifest(
        "cdi.kubevirt.io/v1beta1",
        "DataVolume",
        root_volume(image, root),
        namespace=NAMESPACE,
        # A DataVolume is imported once and has no content of its own to lose; CDI must not wait for a consumer.
        annotations={"cdi.kubevirt.io/storage.bind.immediate.requested": "true"},
        cluster=offering.cluster,
        spec={
            "source": {"http": {"url": image.url, "checksum": f"sha256:{image.sha256}"}},
            "storage": {
                "storageClassName": offering.image_storage_class,
                # The import writes it; after that every VM maps it read-only.
                "accessModes": ["ReadWriteMany", "ReadOnlyMany"],
                "volumeMode": "Filesystem",
                "resources": {"requests": {"storage": root}},
            },
        },
    )
