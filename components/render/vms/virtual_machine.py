"""Virtual machines, one by one or as a fleet: root from a golden volume, other volumes, public address."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import HOST_NAME
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.vms.vm_images import CDI, NAMESPACE, root_volume
from components.render.vms.vm_placement import tolerating
from components.render.vms.vm_volumes import storage
from components.specs.base import Address
from components.specs.pools.node_pool import TaintSpec
from components.specs.storage.storage import StorageClassSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import ROOT, VirtualMachineSpec, VmImage, VmUserSpec, VolumeSpec
from components.specs.vms.vm_sizes import EvictionStrategy, VmSizeSpec

PUBLIC_POOL = "public"
"""Name of the pool of the cluster's public addresses."""
CLOUD_INIT = "cloudinit"
SYSPREP = "sysprep"
EVICTION = EvictionStrategy.IF_POSSIBLE
"""What becomes of VMs that say nothing else: one that cannot migrate must not hold up the drain of its node."""
MOST_INLINE = 2048
"""Most bytes of user data in the VM itself (KV:pkg/virt-api/webhooks, vmi-create-admitter.go)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A VM, or a fleet of them, with what its names stand for."""

    spec: VirtualMachineSpec
    size: VmSizeSpec
    image: VmImage
    classes: Mapping[str, StorageClassSpec]
    """Storage classes that its cluster offers, by name."""
    public_address: Address | None
    host_name: str | None = None
    """Name of that address; None where none is written."""
    keys_secret: str | None = None
    """Secret with public SSH keys of the image's own user; None where no keys come by one."""
    through_api: bool = False
    """Whether it is ordered through the API of its cluster, where an image has a name and its volumes change."""


def virtual_machine(
    cluster: str, machine: Machine, instancetype: str, preference: str, taints: tuple[TaintSpec, ...]
) -> Iterator[Manifest]:
    """Yield the volumes of ``machine``, the machine, which tolerates ``taints``, and its public address."""
    spec = machine.spec
    label = {keys.VIRTUAL_MACHINE: spec.name}
    for volume in spec.volumes:
        if not volume.scratch:
            yield manifest(
                CDI,
                "DataVolume",
                _volume_name(spec, volume.name),
                namespace=NAMESPACE,
                labels=label,
                cluster=cluster,
                protect=True,
                spec=_blank(machine, volume),
            )
    body = {
        "runStrategy": spec.run_strategy.value,
        "instancetype": {"kind": "VirtualMachineClusterInstancetype", "name": instancetype},
        "preference": {"kind": "VirtualMachineClusterPreference", "name": preference},
        **given(dataVolumeTemplates=_own_volumes(machine)),
        "template": {"metadata": {"labels": label}, "spec": _template(machine, taints)},
    }
    if spec.count is None:
        yield manifest(
            "kubevirt.io/v1",
            "VirtualMachine",
            spec.name,
            namespace=NAMESPACE,
            labels=label,
            cluster=cluster,
            spec=body,
        )
    else:
        yield _fleet(cluster, spec.name, spec.count, body)
    if machine.public_address is not None:
        yield _public_address(cluster, spec, machine.public_address, machine.host_name)


def _fleet(cluster: str, name: str, count: int, body: dict[str, Any]) -> Manifest:
    """Return ``count`` machines of ``body``, which KubeVirt gives a number each, and their own volumes too."""
    label = {keys.VIRTUAL_MACHINE: name}
    return manifest(
        "pool.kubevirt.io/v1beta1",
        "VirtualMachinePool",
        name,
        namespace=NAMESPACE,
        labels=label,
        cluster=cluster,
        spec={
            "replicas": count,
            "selector": {"matchLabels": label},
            "virtualMachineTemplate": {"metadata": {"labels": label}, "spec": body},
            # Left to the defaults, an edit would start all machines anew at once, and those that go would be any.
            "updateStrategy": {"opportunistic": {}},
            "scaleInStrategy": {"proactive": {"selectionPolicy": {"sortPolicy": "DescendingOrder"}}},
        },
    )


def _blank(machine: Machine, volume: VolumeSpec) -> dict[str, Any]:
    return {"source": {"blank": {}}, "storage": storage(machine.classes[volume.storage_class], volume.size)}


def _own_volumes(machine: Machine) -> list[dict[str, Any]]:
    """Return the volumes that KubeVirt makes with ``machine``, and deletes with it."""
    spec, found = machine.spec, dict[str, dict[str, Any]]()
    if spec.root is not None:
        found[ROOT] = {**_cloned(machine), "storage": storage(machine.classes[spec.root.storage_class], spec.root.size)}
    found |= {volume.name: _blank(machine, volume) for volume in spec.volumes if volume.scratch}
    return [{"metadata": {"name": _volume_name(spec, name)}, "spec": body} for name, body in found.items()]


def _cloned(machine: Machine) -> dict[str, Any]:
    """Return what a root is cloned from: the golden volume of its image, or what the image is called in the cluster."""
    if machine.through_api:
        return {"sourceRef": {"kind": "DataSource", "name": machine.image.name, "namespace": NAMESPACE}}
    return {"source": {"pvc": {"name": _golden(machine), "namespace": NAMESPACE}}}


def _volume_name(spec: VirtualMachineSpec, volume: str) -> str:
    return f"{spec.name}-{volume}"


def _template(machine: Machine, taints: tuple[TaintSpec, ...]) -> dict[str, Any]:
    spec, first_boot = machine.spec, _first_boot(machine)
    # KubeVirt asks for 50 MB whatever the overlay's size, and the node would evict the VM.
    overlay = {"resources": {"requests": {"ephemeral-storage": machine.size.root_disk}}}
    return {
        **({"hostname": spec.name} if spec.count is None else {}),
        **({"nodeSelector": {keys.NODE_POOL: spec.pool}} if spec.pool else {}),
        **tolerating(taints),
        **_eviction(machine.size),
        # Windows may install updates before it ends: its preference says how long it has.
        **({} if machine.image.os is GuestSystem.WINDOWS else {"terminationGracePeriodSeconds": 180}),
        **given(accessCredentials=_access(machine)),
        "domain": {
            "devices": {"disks": _disks(machine, first_boot), "interfaces": [{"name": "default", "masquerade": {}}]},
            **({} if spec.root else overlay),
        },
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [
            {"name": ROOT, **_root(machine)},
            *first_boot,
            *(
                {"name": _disk_name(volume.name), "dataVolume": {"name": _volume_name(spec, volume.name)}}
                for volume in spec.volumes
            ),
        ],
    }


def _root(machine: Machine) -> dict[str, Any]:
    if machine.spec.root is not None:
        return {"dataVolume": {"name": _volume_name(machine.spec, ROOT)}}
    return {"ephemeral": {"persistentVolumeClaim": {"claimName": _golden(machine), "readOnly": True}}}


def _golden(machine: Machine) -> str:
    return root_volume(machine.image, machine.size.root_disk)


def _eviction(size: VmSizeSpec) -> dict[str, Any]:
    """Return what becomes of a machine whose node is drained, where that is not what holds for all of the cluster."""
    return {} if size.eviction is EVICTION else {"evictionStrategy": size.eviction.value}


def _disk_name(volume: str) -> str:
    """Return the name of a volume's disk inside the VM, where the root has a name too."""
    return f"data-{volume}"


def _disks(machine: Machine, first_boot: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the disks of ``machine``, among them those of its volumes for ``first_boot``."""
    virtio = {"disk": {"bus": "virtio"}}
    # Windows' setup looks for its answer file on a CD.
    buses = {CLOUD_INIT: virtio, SYSPREP: {"cdrom": {"bus": "sata"}}}
    return [
        {"name": ROOT, **virtio, "bootOrder": 1},
        *({"name": volume["name"], **buses[volume["name"]]} for volume in first_boot),
        # The serial is what the guest finds the disk by, whatever their order.
        *({"name": _disk_name(volume.name), **virtio, "serial": volume.name} for volume in machine.spec.volumes),
    ]


def _first_boot(machine: Machine) -> list[dict[str, Any]]:
    """Return the volume that sets the guest up at its first boot; none for Windows without an answer file."""
    if machine.image.os is GuestSystem.LINUX:
        return [{"name": CLOUD_INIT, "cloudInitNoCloud": _cloud_init(machine)}]
    secret = machine.spec.sysprep_secret
    return [{"name": SYSPREP, "sysprep": {"secret": {"name": secret}}}] if secret else []


def _access(machine: Machine) -> list[dict[str, Any]]:
    if machine.keys_secret is None:
        return []
    source = {"secret": {"secretName": machine.keys_secret}}
    return [{"sshPublicKey": {"source": source, "propagationMethod": {"noCloud": {}}}}]


def _cloud_init(machine: Machine) -> dict[str, Any]:
    """Return where the guest's first-boot configuration is: in a Secret, or here."""
    if machine.spec.user_data_secret is not None:
        return {"secretRef": {"name": machine.spec.user_data_secret}}
    return {"userData": user_data(machine.spec, own_user=machine.keys_secret is not None)}


def user_data(spec: VirtualMachineSpec, *, own_user: bool = False) -> str:
    """Return the guest's first-boot configuration; KubeVirt takes `MOST_INLINE` bytes of it at most.

    With ``own_user`` the image's own user is among the users, for whom keys come by a Secret.
    """
    users = [*(["- default\n"] if own_user else []), *(f"- {json.dumps(_user(user))}\n" for user in spec.users)]
    mounts = [
        f'- ["/dev/disk/by-id/virtio-{volume.name}", /mnt/{volume.name}, ext4, "defaults,nofail,x-systemd.makefs"]\n'
        for volume in spec.volumes
    ]
    parts = (("users", users), ("mounts", mounts))
    lists = "".join(f"{name}:\n{''.join(lines)}" for name, lines in parts if lines)
    # Machines of a fleet are called as KubeVirt called them, which cloud-init learns from it.
    name = f"hostname: {spec.name}\n" if spec.count is None else ""
    return f"#cloud-config\n{name}{lists}"


def _user(user: VmUserSpec) -> dict[str, Any]:
    """Return an entry of cloud-init's ``users``, which locks the password of each."""
    root = {"sudo": "ALL=(ALL) NOPASSWD:ALL"} if user.sudo else {}
    return {"name": user.name, "shell": "/bin/bash", **root, "ssh_authorized_keys": list(user.ssh_keys)}


def _public_address(cluster: str, spec: VirtualMachineSpec, address: Address, host_name: str | None) -> Manifest:
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
            **given(**{HOST_NAME: host_name}),
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
