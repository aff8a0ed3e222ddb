"""A virtual machine of the platform's own: ephemeral root over a golden volume, lasting volumes, public address."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.vm_images import CDI, NAMESPACE, root_volume
from components.render.vm_placement import tolerating
from components.render.vm_volumes import storage
from components.specs.base import Address
from components.specs.node_pool import TaintSpec
from components.specs.storage import StorageClassSpec
from components.specs.vm_offering import (
    EvictionStrategy,
    VirtualMachineSpec,
    VmImageSpec,
    VmSizeSpec,
    VmUserSpec,
    VolumeSpec,
)

PUBLIC_POOL = "public"
"""Name of the pool of the cluster's public addresses."""
ROOT = "root"
CLOUD_INIT = "cloudinit"
EVICTION = EvictionStrategy.IF_POSSIBLE
"""What becomes of VMs that say nothing else: one that cannot migrate must not hold up the drain of its node."""
MOST_INLINE = 2048
"""Most bytes of user data in the VM itself (KV:pkg/virt-api/webhooks, vmi-create-admitter.go)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A VM with what its names stand for."""

    spec: VirtualMachineSpec
    size: VmSizeSpec
    image: VmImageSpec
    classes: Mapping[str, StorageClassSpec]
    """Storage classes that its cluster offers, by name."""
    public_address: Address | None


def virtual_machine(
    cluster: str, machine: Machine, instancetype: str, preference: str, taints: tuple[TaintSpec, ...]
) -> Iterator[Manifest]:
    """Yield the volumes of ``machine``, the machine, which tolerates ``taints``, and its public address."""
    spec = machine.spec
    for volume in spec.volumes:
        if not volume.scratch:
            yield manifest(
                CDI,
                "DataVolume",
                _volume_name(spec, volume.name),
                namespace=NAMESPACE,
                labels={keys.VIRTUAL_MACHINE: spec.name},
                cluster=cluster,
                protect=True,
                spec=_blank(machine, volume),
            )
    yield _machine(cluster, machine, instancetype, preference, taints)
    if machine.public_address is not None:
        yield _public_address(cluster, spec, machine.public_address)


def _blank(machine: Machine, volume: VolumeSpec) -> dict[str, Any]:
    return {"source": {"blank": {}}, "storage": storage(machine.classes[volume.storage_class], volume.size)}


def _own_volumes(machine: Machine) -> list[dict[str, Any]]:
    """Return the volumes that KubeVirt makes with ``machine``, and deletes with it."""
    spec = machine.spec
    return [
        {"metadata": {"name": _volume_name(spec, volume.name)}, "spec": _blank(machine, volume)}
        for volume in spec.volumes
        if volume.scratch
    ]


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
            "runStrategy": spec.run_strategy.value,
            "instancetype": {"kind": "VirtualMachineClusterInstancetype", "name": instancetype},
            "preference": {"kind": "VirtualMachineClusterPreference", "name": preference},
            **given(dataVolumeTemplates=_own_volumes(machine)),
            "template": {
                "metadata": {"labels": label},
                "spec": {
                    "hostname": spec.name,
                    **tolerating(taints),
                    **_eviction(machine.size),
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
                        {"name": CLOUD_INIT, "cloudInitNoCloud": _cloud_init(spec)},
                        *extra,
                    ],
                },
            },
        },
    )


def _eviction(size: VmSizeSpec) -> dict[str, Any]:
    """Return what becomes of a machine whose node is drained, where that is not what holds for all of the cluster."""
    return {} if size.eviction is EVICTION else {"evictionStrategy": size.eviction.value}


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


def _cloud_init(spec: VirtualMachineSpec) -> dict[str, Any]:
    """Return where the guest's first-boot configuration is: in a Secret, or here."""
    if spec.user_data_secret is not None:
        return {"secretRef": {"name": spec.user_data_secret}}
    return {"userData": user_data(spec)}


def user_data(spec: VirtualMachineSpec) -> str:
    """Return the guest's first-boot configuration; KubeVirt takes `MOST_INLINE` bytes of it at most."""
    users = [f"- {json.dumps(_user(user))}\n" for user in spec.users]
    mounts = [
        f'- ["/dev/disk/by-id/virtio-{volume.name}", /mnt/{volume.name}, ext4, "defaults,nofail,x-systemd.makefs"]\n'
        for volume in spec.volumes
    ]
    parts = (("users", users), ("mounts", mounts))
    lists = "".join(f"{name}:\n{''.join(lines)}" for name, lines in parts if lines)
    return f"#cloud-config\nhostname: {spec.name}\n{lists}"


def _user(user: VmUserSpec) -> dict[str, Any]:
    """Return an entry of cloud-init's ``users``, which locks the password of each."""
    root = {"sudo": "ALL=(ALL) NOPASSWD:ALL"} if user.sudo else {}
    return {"name": user.name, "shell": "/bin/bash", **root, "ssh_authorized_keys": list(user.ssh_keys)}


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
            # By name, since one number of both protocols is two ports of one Service.
            "ports": [
                {"name": f"{protocol.lower()}-{port}", "protocol": protocol, "port": port, "targetPort": port}
                for protocol, listing in (("TCP", spec.ports), ("UDP", spec.udp_ports))
                for port in listing
            ],
        },
    )
