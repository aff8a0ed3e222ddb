"""ResourceQuota of a cluster's VM namespace: machines, GPUs, public addresses, and bytes of each storage class.

The ResourceQuota does not limit CPUs and memory; a rule checks these limits in the data. The pod of a VM requests a
tenth of the VM's CPUs and more memory than the VM has. During a migration, two pods of the VM count
(KV:pkg/virt-controller/services/renderresources.go).
"""

from collections.abc import Iterator, Sequence

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.vms.virtual_machine import Machine
from components.render.vms.vm_images import NAMESPACE
from components.specs.base import DnsLabel, Quantity, bytes_of
from components.specs.region.tenant import QuotasSpec
from components.specs.vms.vm_sizes import VmSizeSpec

_IMPORTS = 4
"""Maximum number of claims per golden volume: the volume, two for CDI's import and unpacking, and the old volume."""
_FILLED_PERCENT = 94
"""Share of a claim that a disk in a file system may use. CDI increases claims accordingly (filesystemOverhead)."""


def vm_quota(
    cluster: str,
    quotas: QuotasSpec,
    sizes: Sequence[VmSizeSpec],
    machines: Sequence[Machine],
    golden: tuple[DnsLabel, Sequence[Quantity]],
) -> Iterator[Manifest]:
    """Yield the quota of the VMs in ``cluster``, if any limit is set.

    Args:
        cluster: cluster of the VMs.
        quotas: quotas of the tenant.
        sizes: VM sizes offered in the cluster.
        machines: VMs declared in the data, with the storage classes of the cluster.
        golden: storage class and sizes of golden volumes, which are in the same namespace but do not count for tenants.
    """
    devices = dict.fromkeys(size.gpu.device for size in sizes if size.gpu)
    hard = {
        "count/virtualmachines.kubevirt.io": quotas.vms.machines,
        **{f"requests.{device}": quotas.vms.gpus for device in devices},
        "services.loadbalancers": quotas.public_ips,
    }
    limits = {key: str(most) for key, most in hard.items() if most is not None}
    image_class, volumes = golden
    for name, quota in quotas.storage.items():
        images = _IMPORTS * sum(map(bytes_of, volumes)) if name == image_class else 0
        total = bytes_of(quota) + images + _largest(machines, name)
        limits[f"{name}.storageclass.storage.k8s.io/requests.storage"] = _claimed(total)
    if limits:
        yield manifest("v1", "ResourceQuota", NAMESPACE, namespace=NAMESPACE, cluster=cluster, spec={"hard": limits})


def _largest(machines: Sequence[Machine], storage_class: str) -> int:
    """Return the bytes of the largest volume of a class. A volume exists twice while CDI fills it."""
    every = [(*machine.spec.volumes, *((machine.spec.root,) if machine.spec.root else ())) for machine in machines]
    sizes = (bytes_of(volume.size) for disks in every for volume in disks if volume.storage_class == storage_class)
    return max(sizes, default=0)


def _claimed(disks: int) -> Quantity:
    """Return the size of claims for ``disks`` bytes of disks, including the overhead, in whole Gi."""
    return f"{-(-disks * 100 // (_FILLED_PERCENT << 30))}Gi"
