"""What bounds the namespace of VMs in a cluster: machines, GPUs, public addresses, and bytes of each storage class.

CPUs and memory are compared in the data alone: KubeVirt asks for a tenth of a machine's CPUs and for more memory than
it has, and a machine that migrates is there twice (KV:pkg/virt-controller/services/renderresources.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.vms.virtual_machine import Machine
from components.render.vms.vm_images import NAMESPACE
from components.specs.base import DnsLabel, Quantity, bytes_of
from components.specs.region.tenant import QuotasSpec
from components.specs.vms.vm_sizes import VmSizeSpec

_IMPORTS = 4
"""Claims of one golden volume at most: its own, what CDI fills and unpacks it in, and that of the version before."""
_FILLED_PERCENT = 94
"""Share of a claim that a disk in a file system may fill; CDI asks for that much more (its filesystemOverhead)."""


def vm_quota(
    cluster: str,
    quotas: QuotasSpec,
    sizes: Sequence[VmSizeSpec],
    machines: Sequence[Machine],
    golden: tuple[DnsLabel, Sequence[Quantity]],
) -> Iterator[Manifest]:
    """Yield the quota of the VMs in ``cluster``, if anything bounds them.

    Args:
        cluster: runs the VMs.
        quotas: what their tenant may have.
        sizes: what can be ordered there.
        machines: the VMs that are written as data, with the classes that the cluster offers.
        golden: the class of golden volumes, and the size of each; they are in the same namespace, and not the tenant's.
    """
    devices = dict.fromkeys(size.gpu.device for size in sizes if size.gpu)
    hard = {
        "count/virtualmachines.kubevirt.io": quotas.vms.machines,
        **{f"requests.{device}": quotas.vms.gpus for device in devices},
        "services.loadbalancers": quotas.public_ips,
    }
    bounds = {key: str(most) for key, most in hard.items() if most is not None}
    image_class, volumes = golden
    for name, quota in quotas.storage.items():
        beside = _IMPORTS * sum(map(bytes_of, volumes)) if name == image_class else 0
        whole = bytes_of(quota) + beside + _largest(machines, name)
        bounds[f"{name}.storageclass.storage.k8s.io/requests.storage"] = _claimed(whole)
    if bounds:
        yield manifest("v1", "ResourceQuota", NAMESPACE, namespace=NAMESPACE, cluster=cluster, spec={"hard": bounds})


def _largest(machines: Sequence[Machine], storage_class: str) -> int:
    """Return the bytes of the largest volume of a class, which is there twice while CDI fills it."""
    every = [(*machine.spec.volumes, *((machine.spec.root,) if machine.spec.root else ())) for machine in machines]
    sizes = (bytes_of(one.size) for volumes in every for one in volumes if one.storage_class == storage_class)
    return max(sizes, default=0)


def _claimed(disks: int) -> Quantity:
    """Return what claims ask for, whose disks have so many bytes, in whole Gi."""
    return f"{-(-disks * 100 // (_FILLED_PERCENT << 30))}Gi"
