"""What can be ordered in a region, as data: sizes, images, nodes, storage, and where there is room."""

from __future__ import annotations

from components.specs.base import Spec
from components.specs.hosts.instance_types import GpuSpec, PortUse
from components.specs.pools.huge_pages import PageSize
from components.specs.storage.snapshots import TreeSnapshotsSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_sizes import VmGpuSpec

FORMAT = 1


class Room(Spec):
    """Room for one size of VM in one cluster."""

    cluster: str
    tenant: str
    nodes: int
    """Nodes in service, of pools that run VMs, that hold at least one VM of the size."""
    vms: int
    """Most VMs of the size that these nodes hold, with nothing else on them."""
    failure_domains: dict[str, int]
    """VMs of ``vms`` by failure domain, in the order of the inventory."""
    ordered: int = 0
    """VMs of the size that are written as data for the cluster, the platform's own too; those that the tenant orders
    through its API are not known."""


class SizeOffer(Spec):
    """A size of VM, and the clusters that it can be ordered in."""

    size: str
    cpus: int
    memory: str
    root_disk: str
    gpu: VmGpuSpec | None
    dedicated_cpus: bool
    """Whether each CPU is a thread of the node that nothing else runs on."""
    emulator_cpu: bool
    """Whether QEMU has a thread of the node beside those."""
    huge_pages: PageSize | None
    """Size of the huge pages that hold the memory; None for ordinary pages."""
    numa: bool
    """Whether the guest sees the NUMA nodes that it is on."""
    room: tuple[Room, ...]


class ImageOffer(Spec):
    """An operating system of VMs in the version that is ordered by its name."""

    image: str
    version: str
    size: str
    os: GuestSystem
    clusters: tuple[str, ...]


class NodeOffer(Spec):
    """An instance type that pools can be of, and its hosts that belong to no pool."""

    instance_type: str
    cpus: int
    memory: str
    gpu: GpuSpec | None
    free: int
    failure_domains: dict[str, int]
    """Hosts of ``free`` by failure domain."""


class SharedGpuOffer(Spec):
    """What pods of a cluster ask for to get a part of a GPU, on nodes that have it now."""

    cluster: str
    pool: str
    resource: str
    """Name of what a pod asks for, such as ``nvidia.com/mig-1g.10gb``."""
    each_node: int
    """How many of it a node has."""
    nodes: int
    walls: bool
    """Whether pods on one GPU are kept from each other's memory and faults."""


class NvlinkOffer(Spec):
    """A pool whose pods can reach memory of GPUs on other nodes, by a claim on a channel of their ComputeDomain."""

    cluster: str
    pool: str
    instance_type: str
    domains: int
    """NVLink domains of the pool, as its nodes are pinned."""
    nodes: int
    """Most nodes that one of them runs."""
    label: str
    """Label of a node with its domain; pods with affinity to each other by it are in one."""


class StorageOffer(Spec):
    """A storage class, and what its volumes are good for."""

    storage_class: str
    driver: str
    default: bool
    shared: bool
    """Whether many nodes can have a volume mounted at once."""
    durable: bool
    """Whether a volume survives the replacement of its node."""
    encrypted: bool
    """Whether the disks below are encrypted with keys that nodes forget, and volumes end with each boot of a node."""
    snapshots: TreeSnapshotsSpec | None
    """Snapshots that the storage system takes of all volumes, deleted ones too."""
    clusters: tuple[str, ...]


class BucketOffer(Spec):
    """A bucket that a tenant has, and where its workloads find the keys."""

    tenant: str
    bucket: str
    """Name in the store."""
    store: str
    endpoint: str
    quota: str
    found_as: str
    """Name of ConfigMap and Secret in each namespace that gets keys."""
    namespaces: dict[str, tuple[str, ...]]
    """Namespaces with keys, by cluster."""


class CheckpointOffer(Spec):
    """Where jobs of a cluster write a checkpoint at the speed of a node's own disks, and where it is kept."""

    cluster: str
    written_to: tuple[str, ...]
    """Storage classes on the disks of the node, whose volumes go with it."""
    kept_in: tuple[str, ...]
    """Storage classes that outlive nodes and that many of them can read, the default first; empty where nothing keeps
    it."""


class PortOffer(Spec):
    """What a pod asks for to get ports of a node on a fabric."""

    cluster: str
    instance_type: str
    fabric: str
    networks: str | None
    """Value of the annotation ``k8s.v1.cni.cncf.io/networks``, once for each port; None where a pod names none."""
    resource: str | None
    """Resource that the pod limits to as many ports as it wants, or to 1 for all of them where they are shared; None
    where nothing hands out their devices."""
    use: PortUse | None
    """What the pod gets of the ports; None where nothing hands out their devices."""
    host_network: bool
    """Whether the pod joins the network of the node by ``hostNetwork``, where the ports and their addresses stay."""
    ports: int
    """Ports of one node."""
    functions: int | None
    """Virtual functions of one node, each for one pod; None where pods get ports as they are."""
    exclusive: bool
    """Whether no other pod of the node sees the RDMA devices."""


class Offerings(Spec):
    """Everything that ``jacquard show ENV offerings`` says; catalogues keep their order."""

    schema_version: int = FORMAT
    environment: str
    vm_sizes: tuple[SizeOffer, ...]
    vm_images: tuple[ImageOffer, ...]
    nodes: tuple[NodeOffer, ...]
    shared_gpus: tuple[SharedGpuOffer, ...]
    nvlink: tuple[NvlinkOffer, ...]
    storage: tuple[StorageOffer, ...]
    checkpoints: tuple[CheckpointOffer, ...]
    buckets: tuple[BucketOffer, ...]
    rdma: tuple[PortOffer, ...]
