"""Virtual machines, single or as a fleet: root disk from a golden volume, other volumes, public address."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import HOST_NAME
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.platform_pods import address_request
from components.render.vms.vm_images import CDI, NAMESPACE, root_volume
from components.render.vms.vm_placement import tolerating
from components.render.vms.vm_sizes import WINDOWS_SHUTDOWN_SECONDS
from components.render.vms.vm_volumes import storage
from components.specs.base import Address
from components.specs.pools.node_pool import TaintSpec
from components.specs.storage.storage import StorageClassSpec
from components.specs.struct import Struct, replace
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import ROOT, VirtualMachineSpec, VmImage, VmUserSpec, VolumeSpec
from components.specs.vms.vm_sizes import EvictionStrategy, VmSizeSpec

PUBLIC_POOL = "public"
"""Name of the pool of the cluster's public addresses."""
CLOUD_INIT = "cloudinit"
SYSPREP = "sysprep"
EVICTION = EvictionStrategy.IF_POSSIBLE
"""Default eviction strategy of VMs. A VM that cannot migrate must not block the drain of its node."""
MOST_INLINE = 2048
"""Maximum size of inline user data in bytes (KV:pkg/virt-api/webhooks, vmi-create-admitter.go)."""


class Machine(Struct):
    """VM or fleet of VMs, with resolved references."""

    spec: VirtualMachineSpec
    size: VmSizeSpec
    image: VmImage
    classes: Mapping[str, StorageClassSpec]
    """Storage classes that the cluster offers, by name."""
    public_address: Address | None
    host_name: str | None = None
    """DNS name of the public address; None for no DNS record."""
    keys_secret: str | None = None
    """Secret with public SSH keys of the image's default user; None without a Secret."""
    through_api: bool = False
    """Whether the VM is ordered through the API of its cluster. Such a VM refers to an image by name, because the
    golden volume of an image can change."""


def virtual_machine(
    cluster: str, machine: Machine, instancetype: str, preference: str, taints: tuple[TaintSpec, ...]
) -> Iterator[Manifest]:
    """Yield the volumes of ``machine``, the VM with tolerations for ``taints``, and the public address."""
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
        **given(dataVolumeTemplates=_managed_volumes(machine)),
        "template": {"metadata": {"labels": label}, "spec": _template(machine, taints)},
    }
    machines = _single(cluster, spec.name, body) if spec.count is None else _fleet(cluster, spec.name, spec.count, body)
    yield replace(machines, deletion_seconds=_deletion_seconds(machine))
    if machine.public_address is not None:
        yield _public_address(cluster, spec, machine.public_address, machine.host_name)


def _deletion_seconds(machine: Machine) -> int | None:
    """Return the time in which KubeVirt deletes a machine, whose finalizer stays until the guest is shut down."""
    return WINDOWS_SHUTDOWN_SECONDS + 600 if machine.image.os is GuestSystem.WINDOWS else None


def _single(cluster: str, name: str, body: dict[str, Any]) -> Manifest:
    label = {keys.VIRTUAL_MACHINE: name}
    return manifest(
        "kubevirt.io/v1", "VirtualMachine", name, namespace=NAMESPACE, labels=label, cluster=cluster, spec=body
    )


def _fleet(cluster: str, name: str, count: int, body: dict[str, Any]) -> Manifest:
    """Return a pool of ``count`` machines with ``body``. KubeVirt numbers the machines and volumes."""
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
            # By default an edit would restart all machines simultaneously, and scale-in would delete random machines.
            "updateStrategy": {"opportunistic": {}},
            "scaleInStrategy": {"proactive": {"selectionPolicy": {"sortPolicy": "DescendingOrder"}}},
        },
    )


def _blank(machine: Machine, volume: VolumeSpec) -> dict[str, Any]:
    return {"source": {"blank": {}}, "storage": storage(machine.classes[volume.storage_class], volume.size)}


def _managed_volumes(machine: Machine) -> list[dict[str, Any]]:
    """Return the volumes that KubeVirt creates and deletes together with ``machine``."""
    spec, volumes = machine.spec, dict[str, dict[str, Any]]()
    if spec.root is not None:
        root_storage = storage(machine.classes[spec.root.storage_class], spec.root.size)
        volumes[ROOT] = {**_clone_source(machine), "storage": root_storage}
    volumes |= {volume.name: _blank(machine, volume) for volume in spec.volumes if volume.scratch}
    return [{"metadata": {"name": _volume_name(spec, name)}, "spec": body} for name, body in volumes.items()]


def _clone_source(machine: Machine) -> dict[str, Any]:
    """Return the clone source of a root disk: the golden volume or the DataSource of the image."""
    if machine.through_api:
        return {"sourceRef": {"kind": "DataSource", "name": machine.image.name, "namespace": NAMESPACE}}
    return {"source": {"pvc": {"name": _golden(machine), "namespace": NAMESPACE}}}


def _volume_name(spec: VirtualMachineSpec, volume: str) -> str:
    return f"{spec.name}-{volume}"


def _template(machine: Machine, taints: tuple[TaintSpec, ...]) -> dict[str, Any]:
    spec, first_boot = machine.spec, _first_boot(machine)
    # KubeVirt requests only 50 MB for an overlay of any size, and the node would evict the VM.
    overlay = {"resources": {"requests": {"ephemeral-storage": machine.size.root_disk}}}
    return {
        **({"hostname": spec.name} if spec.count is None else {}),
        **({"nodeSelector": {keys.NODE_POOL: spec.pool}} if spec.pool else {}),
        **tolerating(taints),
        **_eviction(machine.size),
        # Windows may install updates during shutdown. The preference for Windows sets the grace period.
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
    """Return the eviction strategy of a VM size if it differs from the cluster's default."""
    return {} if size.eviction is EVICTION else {"evictionStrategy": size.eviction.value}


def _disk_name(volume: str) -> str:
    """Return the disk name of a volume inside the VM. The prefix avoids conflicts with the root disk."""
    return f"data-{volume}"


def _disks(machine: Machine, first_boot: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the disks of ``machine``, including the disks of ``first_boot`` volumes."""
    virtio = {"disk": {"bus": "virtio"}}
    # Windows Setup reads its answer file from a CD.
    buses = {CLOUD_INIT: virtio, SYSPREP: {"cdrom": {"bus": "sata"}}}
    return [
        {"name": ROOT, **virtio, "bootOrder": 1},
        *({"name": volume["name"], **buses[volume["name"]]} for volume in first_boot),
        # The guest identifies disks by serial number, independent of their order.
        *({"name": _disk_name(volume.name), **virtio, "serial": volume.name} for volume in machine.spec.volumes),
    ]


def _first_boot(machine: Machine) -> list[dict[str, Any]]:
    """Return the volume with the first-boot configuration; empty for Windows without an answer file."""
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
    """Return the guest's first-boot configuration: a reference to a Secret, or inline user data."""
    if machine.spec.user_data_secret is not None:
        return {"secretRef": {"name": machine.spec.user_data_secret}}
    return {"userData": user_data(machine.spec, own_user=machine.keys_secret is not None)}


def user_data(spec: VirtualMachineSpec, *, own_user: bool = False) -> str:
    """Return the guest's first-boot configuration. KubeVirt accepts at most `MOST_INLINE` bytes.

    With ``own_user``, the users include the image's default user, with keys from a Secret.
    """
    users = [*(["- default\n"] if own_user else []), *(f"- {json.dumps(_user(user))}\n" for user in spec.users)]
    mounts = [
        f'- ["/dev/disk/by-id/virtio-{volume.name}", /mnt/{volume.name}, ext4, "defaults,nofail,x-systemd.makefs"]\n'
        for volume in spec.volumes
    ]
    parts = (("users", users), ("mounts", mounts))
    lists = "".join(f"{name}:\n{''.join(lines)}" for name, lines in parts if lines)
    # KubeVirt assigns the names of machines of a fleet, and cloud-init reads the name in its metadata.
    name = f"hostname: {spec.name}\n" if spec.count is None else ""
    return f"#cloud-config\n{name}{lists}"


def _user(user: VmUserSpec) -> dict[str, Any]:
    """Return an entry of cloud-init's ``users``. cloud-init locks the password of each user."""
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
            **address_request(PUBLIC_POOL, address),
            "pulumi.com/skipAwait": "true",  # A stopped machine must not block an update.
            **given(**{HOST_NAME: host_name}),
        },
        cluster=cluster,
        spec={
            "type": "LoadBalancer",
            "selector": {keys.VIRTUAL_MACHINE: spec.name},
            "externalTrafficPolicy": "Local",
            "allocateLoadBalancerNodePorts": False,
            # Ports have names, since one number with two protocols is two ports of the Service.
            "ports": [
                {"name": f"{protocol.lower()}-{port}", "protocol": protocol, "port": port, "targetPort": port}
                for protocol, listing in (("TCP", spec.ports), ("UDP", spec.udp_ports))
                for port in listing
            ],
        },
    )
