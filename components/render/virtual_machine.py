"""A virtual machine of the platform's own: ephemeral root over a golden volume, lasting volumes, public address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.vm_images import CDI, NAMESPACE, root_volume
from components.render.vm_placement import tolerating
from components.specs.base import Address
from components.specs.node_pool import TaintSpec
from components.specs.vm_offering import VirtualMachineSpec, VmImageSpec, VmSizeSpec

PUBLIC_POOL = "public"
"""Name of the pool of the cluster's public addresses."""
ROOT = "root"
CLOUD_INIT = "cloudinit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A VM with what its names stand for."""

    spec: VirtualMachineSpec
    size: VmSizeSpec
    image: VmImageSpec
    public_address: Address | None


def virtual_machine(
    cluster: str, machine: Machine, instancetype: str, preference: str, taints: tuple[TaintSpec, ...]
) -> Iterator[Manifest]:
    """Yield the volumes of ``machine``, the machine, which tolerates ``taints``, and its public address."""
    spec = machine.spec
    for volume in spec.volumes:
        yield manifest(
            CDI,
            "DataVolume",
            _volume_name(spec, volume.name),
            namespace=NAMESPACE,
            labels={keys.VIRTUAL_MACHINE: spec.name},
            cluster=cluster,
            protect=True,
            spec={
                "source": {"blank": {}},
                "storage": {
                    "storageClassName": volume.storage_class,
                    "accessModes": ["ReadWriteMany"],
                    "volumeMode": "Filesystem",
                    "resources": {"requests": {"storage": volume.size}},
                },
            },
        )
    yield _machine(cluster, machine, instancetype, preference, taints)
    if machine.public_address is not None:
        yield _public_address(cluster, spec, machine.public_address)


def _volume_name(spec: VirtualMachineSpec, volume: str) -> str:
    return f"{spec.name}-{volume}"


def _machine(
    cluster: str, machine: Machine, instancetype: str, preference: str, taints: tuple[TaintSpec, ...]
) -> Manifest:
    spec = machine.spec
    label = {keys.VIRTUAL_MACHINE: spec.name}
    root = {
        "persistentVolumeClaim": {"claimName": root_volume(machine.image, machine.size.root_disk), "readOnly": True}
    }
    extra = [
        {"name": _disk_name(volume.name), "dataVolume": {"name": _volume_name(spec, volume.name)}}
        for volume in spec.volumes
    ]
    return manifest(
        "kubevirt.io/v1",
        "VirtualMachine",
        spec.name,
        namespace=NAMESPACE,
        labels=label,
        cluster=cluster,
        spec={
            "runStrategy": "Always",
            "instancetype": {"kind": "VirtualMachineClusterInstancetype", "name": instancetype},
            "preference": {"kind": "VirtualMachineClusterPreference", "name": preference},
            "template": {
                "metadata": {"labels": label},
                "spec": {
                    "hostname": spec.name,
                    **tolerating(taints),
                    "terminationGracePeriodSeconds": 180,
                    "domain": {
                        "devices": {
                            "disks": _disks(spec),
                            "interfaces": [{"name": "default", "masquerade": {}}],
                        },
                        # KubeVirt asks for 50 MB whatever the overlay's size, and the node would evict the VM.
                        "resources": {"requests": {"ephemeral-storage": machine.size.root_disk}},
                    },
                    "networks": [{"name": "default", "pod": {}}],
                    "volumes": [
                        {"name": ROOT, "ephemeral": root},
                        {"name": CLOUD_INIT, "cloudInitNoCloud": {"userData": _user_data(spec)}},
                        *extra,
                    ],
                },
            },
        },
    )


def _disk_name(volume: str) -> str:
    """Return the name of a volume's disk inside the VM, where the root has a name too."""
    return f"data-{volume}"


def _disks(spec: VirtualMachineSpec) -> list[dict[str, Any]]:
    virtio = {"disk": {"bus": "virtio"}}
    return [
        {"name": ROOT, **virtio, "bootOrder": 1},
        {"name": CLOUD_INIT, **virtio},
        # The serial is what the guest finds the disk by, whatever their order.
        *({"name": _disk_name(volume.name), **virtio, "serial": volume.name} for volume in spec.volumes),
    ]


def _user_data(spec: VirtualMachineSpec) -> str:
    """Return the guest's first-boot configuration; KubeVirt takes 2,048 bytes inline at most."""
    mounts = [
        f'- ["/dev/disk/by-id/virtio-{volume.name}", /mnt/{volume.name}, ext4, "defaults,nofail,x-systemd.makefs"]\n'
        for volume in spec.volumes
    ]
    return "".join(("#cloud-config\n", f"hostname: {spec.name}\n", *(("mounts:\n", *mounts) if mounts else ())))


def _public_address(cluster: str, spec: VirtualMachineSpec, address: Address) -> Manifest:
    return manifest(
        "v1",
        "Service",
        spec.name,
        namespace=NAMESPACE,
        labels={keys.VIRTUAL_MACHINE: spec.name},
        annotations={
            "metallb.io/address-pool": PUBLIC_POOL,
            "metallb.io/loadBalancerIPs": str(address),
            "pulumi.com/skipAwait": "true",  # a machine that is down must not hold up an update
        },
        cluster=cluster,
        spec={
            "type": "LoadBalancer",
            "selector": {keys.VIRTUAL_MACHINE: spec.name},
            "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": False,
            "ports": [
                {"name": f"tcp-{port}", "protocol": "TCP", "port": port, "targetPort": port} for port in spec.ports
            ],
        },
    )
