"""Instance types of the catalogue, shared by all environments: hardware classes of hosts."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    InterfaceName,
    Label,
    Quantity,
    Spec,
    Text,
    bytes_of,
)
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.pools.gpu_sharing import MigProfile

_MEMORY, _DISK = ("4Gi", "64Ti"), ("16Gi", "256Ti")
"""Minimum and maximum of the memory of one node and of the size of one disk. Other values probably have a wrong
unit."""
_MAX_POLICY = 30
"""Maximum length of the name of a NicNodePolicy (NETOP:api/v1alpha1/validator/nicpolicy_webhook.go)."""


class Architecture(StrEnum):
    """Instruction set of a CPU, by the name in container images and Kubernetes nodes."""

    AMD64 = "amd64"
    """The CPU is an x86-64 CPU of Intel or AMD."""
    ARM64 = "arm64"
    """The CPU is an Arm CPU, such as NVIDIA Grace."""


class GpuSpec(Spec):
    """GPUs of a node."""

    model: Label
    """Model of the GPU, such as ``h100-sxm5-80gb``. The part before the first hyphen determines which drivers of golden
    images are checked."""
    count: int = Field(ge=1, le=72)
    """Number of GPUs in one node."""
    mig: dict[MigProfile, Annotated[int, Field(ge=1, le=7)]] = Field(default_factory=dict)
    """MIG profiles of the GPU, each with its maximum number of instances per GPU, as printed by ``nvidia-smi mig
    -lgip``. By default pools cannot request MIG."""
    nvswitch: bool = False
    """Whether NVSwitches of the node connect its GPUs, as on HGX baseboards with 8 GPUs. CUDA then requires NVIDIA's
    fabric manager in golden images (``contents.fabric_manager``)."""
    gpudirect_rdma: bool = False
    """Whether fabric ports of the node access the memory of its GPUs directly. Golden images must support it
    (``contents.gpudirect_rdma``)."""


class DpuSpec(Spec):
    """DPU of a node."""

    model: Label
    """Model of the DPU, such as ``bluefield-3``. Enrolment counts the functions of known models."""
    host_functions: int = Field(ge=1, le=2)
    """Number of physical functions visible to the host."""
    interface: InterfaceName | None = None
    """Name of the first physical function in the inspection data of a host, such as ``enp1s0f0np0``. It is required
    where nodes get an allocated address in a VPC. Images can give the port another name
    (``contents.dpu_interface``)."""
    virtual_functions: int = Field(default=16, ge=1, le=126)
    """Number of virtual functions of each physical function. It limits VMs, and InfiniBand GUIDs are reserved for
    them."""


class NicsSpec(Spec):
    """Network adapters of a node, not including its DPU."""

    model: Text
    """Model of the adapter, such as ``connectx-7``. On InfiniBand the model selects the PCI device in
    SriovNetworkNodePolicies and must be a known model."""
    gbits: int = Field(ge=1, le=3200)
    """Bandwidth of one port in Gbit/s."""


class PortUse(StrEnum):
    """Allocation of a node's ports to pods."""

    FUNCTIONS = "functions"
    """Pods get SR-IOV virtual functions of ports, each in the partition of its VPC."""
    WHOLE = "whole"
    """Pods get whole ports, in the partitions that UFM configures for them."""
    SHARED = "shared"
    """Pods share all ports of the node with other pods that request them, without isolation between these pods."""


class RdmaSpec(CheckedSpec):
    """Access of pods to the fabric ports of a node, and to RDMA on them."""

    ports: PortUse = PortUse.FUNCTIONS
    """Allocation of ports to pods. Golden images create virtual functions; for ``whole`` they must not, because a port
    with virtual functions is not allocated. For ``shared``, virtual functions are allowed and not used."""
    exclusive: bool = False
    """Whether an RDMA device belongs to one network namespace only, so that other pods of the node cannot see it.
    Golden images configure it (``contents.rdma_exclusive``), and all images of the type must have the same value."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield exclusive use of whole or shared ports, because their devices cannot move between namespaces."""
        if self.exclusive and self.ports is not PortUse.FUNCTIONS:
            text = (
                f"is not possible for {self.ports} ports, whose devices belong to the node; write false, or ports:"
                " functions"
            )
            yield ConstraintViolation(text, ("exclusive",), self.exclusive)


class Scale(StrEnum):
    """Unit of purchase and failure of an instance type."""

    NODE = "node"
    """Each node is bought individually and fails individually."""
    RACK = "rack"
    """A rack is one NVLink domain of ``nodes_per_rack`` nodes, such as NVL72 with 18 nodes of 4 GPUs."""


class InstanceType(CheckedSpec):
    """Hardware class. Hosts that differ in any property except their identity need separate instance types."""

    name: Label
    """Unique name of the hardware class, referenced by inventory, images and pools."""
    scale: Scale = Scale.NODE
    """Whether nodes of the type fail individually or with their rack."""
    cpu_model: Text
    """Model of the CPU, in the vendor's notation. Enrolment compares it with the model that inspection reports."""
    architecture: Architecture = Architecture.AMD64
    """Instruction set of the CPU. Images for another instruction set do not boot."""
    cpus: int = Field(ge=1, le=1024)
    """Number of hardware threads of one node."""
    memory: Quantity
    """Memory of one node with a binary unit, such as ``2048Gi``. It limits VM sizes, and the cluster autoscaler uses
    it."""
    gpu: GpuSpec | None = None
    """GPUs of one node; omit it for nodes without GPUs."""
    nics: NicsSpec | None = None
    """Network adapters of one node, not including its DPU. This field is required for types on InfiniBand."""
    infiniband_ports: int = Field(default=0, ge=0, le=16)
    """Number of ports of one node on the InfiniBand fabric of the host's hall."""
    roce_ports: int = Field(default=0, ge=0, le=16)
    """Number of ports of one node on the RoCE fabric (Ethernet with ``roce``) of the host's hall, not including DPU
    ports."""
    roce_interfaces: tuple[InterfaceName, ...] = ()
    """Names of the RoCE ports in golden images, such as ``enp26s0f0np0``, in the order of the fabric's rails. This
    field is required where pods get virtual functions of ports."""
    rdma: RdmaSpec | None = None
    """Access of pods to the fabric ports. By default pods get virtual functions of InfiniBand ports, with RDMA devices
    visible in all namespaces of the node, and no RoCE ports. RoCE ports support ``functions`` and ``shared``."""
    ethernet_ports: int = Field(default=2, ge=1, le=8)
    """Number of ports of one node to leaf switches."""
    dpu: DpuSpec
    """DPU of one node; every host has a DPU."""
    nvme_disks: int = Field(ge=0, le=32)
    """Number of local disks of one node for scratch volumes, not including the boot disk."""
    nvme_disk_size: Quantity | None = None
    """Size of one local disk, such as ``3576Gi``. By default the size of volumes on these disks is not checked."""
    kubelet_disk_size: Quantity | None = None
    """Size of the file system with ``/var/lib/kubelet``, such as ``800Gi``; it is not on the disks of ``nvme_disks``.
    It holds container images, ephemeral volumes of pods and ephemeral root disks of VMs. By default the size is
    ``min_size`` of ``root_device``; without both, root disks of VMs are not counted."""
    nodes_per_rack: int = Field(ge=1, le=48)
    """Number of nodes per rack, limited by space, power and ports. For a rack-scale type it is the number of nodes in
    its NVLink domain."""
    max_pods: int = Field(default=110, ge=16, le=1024)
    """Maximum number of pods on a node; a cluster can override it."""
    reboot_timeout_seconds: int = Field(default=1800, ge=900, le=7200)
    """Seconds from power-off until a rebooted host is a ready node again: power-on self-test, boot and kubelet. After
    this time Metal3 powers the host off a second time, and after twice this time the node is replaced."""
    root_device: RootDeviceSpec | None = None
    """Disk to which images are written. This field is required for hosts that Metal3 provisions."""

    @property
    def rdma_exclusive(self) -> bool:
        """Return whether an RDMA device of a node belongs to one network namespace only."""
        return self.rdma is not None and self.rdma.exclusive

    @property
    def shares_roce(self) -> bool:
        """Return whether pods on the host network get the RDMA devices of the node's RoCE ports."""
        return bool(self.roce_ports) and self.port_use is PortUse.SHARED

    @property
    def roce_functions(self) -> bool:
        """Return whether pods get virtual functions of the node's RoCE ports, with addresses of its rails."""
        return bool(self.roce_ports) and self.rdma is not None and self.port_use is PortUse.FUNCTIONS

    @property
    def port_use(self) -> PortUse:
        """Return the allocation of the node's fabric ports to pods."""
        return PortUse.FUNCTIONS if self.rdma is None else self.rdma.ports

    @property
    def ephemeral_bytes(self) -> int | None:
        """Return the bytes that pods of a node can use on the kubelet's file system; None if its size is unknown.

        By default a kubelet reserves a tenth of it and evicts pods that exceed the rest
        (K8S:pkg/kubelet/eviction/defaults_linux.go).
        """
        size = self.kubelet_disk_size or (self.root_device.min_size if self.root_device else None)
        return None if size is None else bytes_of(size) * 9 // 10

    @property
    def spans_nodes(self) -> bool:
        """Return whether NVLink connects GPUs of several nodes."""
        return self.scale is Scale.RACK and self.gpu is not None

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield impossible sizes, settings for missing ports, and hints that match too many disks."""
        if self.roce_ports and self.infiniband_ports:
            text = f"is only for nodes on RoCE, but infiniband_ports is {self.infiniband_ports}; remove it"
            yield ConstraintViolation(text, ("roce_ports",), self.roce_ports)
        if self.roce_ports and self.port_use is PortUse.WHOLE:
            text = "is not possible on RoCE, where ports belong to the host network; write functions, or shared"
            yield ConstraintViolation(text, ("rdma", "ports"), str(self.port_use))
        elif self.rdma is not None and not self.infiniband_ports and not self.roce_ports:
            yield ConstraintViolation(
                "is only for nodes on InfiniBand, but infiniband_ports is 0; remove it", ("rdma",)
            )
        if self.gpu is not None and self.gpu.gpudirect_rdma and not self.infiniband_ports and not self.roce_ports:
            text = "is only for nodes on a fabric, but infiniband_ports and roce_ports are 0; remove it"
            yield ConstraintViolation(text, ("gpu", "gpudirect_rdma"), got=True)
        yield from self._unnamed_ports()
        if self.port_use is not PortUse.FUNCTIONS and len(self.name) > _MAX_POLICY:
            text = (
                f"has more than {_MAX_POLICY} characters, the limit of the Network Operator for a policy with"
                f" {self.port_use} ports; shorten it, or write ports: functions"
            )
            yield ConstraintViolation(text, ("name",), self.name)
        sizes = {"memory": (self.memory, _MEMORY), "nvme_disk_size": (self.nvme_disk_size, _DISK)}
        sizes["kubelet_disk_size"] = (self.kubelet_disk_size, _DISK)
        for key, (size, (least, most)) in sizes.items():
            if size is not None and not bytes_of(least) <= bytes_of(size) <= bytes_of(most):
                other = {"P": "T", "T": "G"}.get(size[-2], "G")
                text = f"must be {least} to {most}; is {size[:-2]}{other}i meant?"
                yield ConstraintViolation(text, (key,), size)
        if (
            self.root_device is not None
            and self.nvme_disks
            and not self.root_device.excludes_scratch(self.nvme_disk_size)
        ):
            size = f" of {self.nvme_disk_size}" if self.nvme_disk_size else ""
            text = (
                f"also matches the {self.nvme_disks} disks{size} for scratch volumes (nvme_disks), and the first match"
                " is used; add model or device_name of the disk to boot from"
            )
            yield ConstraintViolation(text, ("root_device",))

    def _unnamed_ports(self) -> Iterator[ConstraintViolation]:
        """Yield missing and unnecessary names of RoCE ports."""
        names = self.roce_interfaces
        if names and not self.roce_functions:
            text = "is only for types whose pods get functions on RoCE; remove it, or write rdma: {ports: functions}"
            yield ConstraintViolation(text, ("roce_interfaces",))
        elif self.roce_functions and (len(names), len({*names})) != (self.roce_ports, self.roce_ports):
            rule = f"has {len({*names})} different names, but roce_ports is {self.roce_ports}"
            text = f"{rule}; name each port once, by rail"
            yield ConstraintViolation(text, ("roce_interfaces",))


class InstanceTypeCatalog(DataFile):
    """``catalog/instance_types.yaml``."""

    instance_types: tuple[InstanceType, ...] = Field(min_length=1)
    """Hardware classes of hosts and pools, for all environments."""

    @cached_property
    def by_name(self) -> dict[str, InstanceType]:
        """Return the instance types by their names."""
        return {kind.name: kind for kind in self.instance_types}
