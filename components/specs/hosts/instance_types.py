"""The instance types of the catalogue that all environments share: hardware classes of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field

from components.specs.base import CheckedSpec, DataFile, InterfaceName, Label, Misfit, Quantity, Spec, Text, bytes_of
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.pools.gpu_sharing import MigProfile

_MEMORY, _DISK = ("4Gi", "64Ti"), ("16Gi", "256Ti")
"""Least and most that one node has, or one disk: what is beyond has the wrong unit."""
_MAX_POLICY = 30
"""Length of the name of a NicNodePolicy (NETOP:api/v1alpha1/validator/nicpolicy_webhook.go)."""


class Architecture(StrEnum):
    """Instruction set of a CPU, by the name that container images and Kubernetes' nodes use."""

    AMD64 = "amd64"
    """The CPU is an x86-64, of Intel or AMD."""
    ARM64 = "arm64"
    """The CPU is an Arm, such as NVIDIA Grace."""


class GpuSpec(Spec):
    """GPUs of a node."""

    model: Label
    """Model of the GPU, such as ``h100-sxm5-80gb``, for people."""
    count: int = Field(ge=1, le=72)
    """Number of GPUs in one node."""
    mig: dict[MigProfile, Annotated[int, Field(ge=1, le=7)]] = Field(default_factory=dict)
    """MIG profiles that the GPU can be cut into, each with how many instances of it one GPU has at most, as
    ``nvidia-smi mig -lgip`` prints both. No pool may ask for any when it is left out."""


class DpuSpec(Spec):
    """The DPU of a node."""

    model: Label
    """Model of the DPU, such as ``bluefield-3``, for people."""
    host_functions: int = Field(ge=1, le=2)
    """Number of physical functions that the host sees."""
    interface: InterfaceName | None = None
    """Name of the first physical function as inspection of a host gives it, such as ``enp1s0f0np0``; required where
    nodes are given their address in a VPC."""
    virtual_functions: int = Field(default=16, ge=1, le=126)
    """Number of virtual functions of one physical function; VMs and InfiniBand GUIDs are counted by them."""


class NicsSpec(Spec):
    """Network adapters of a node beside its DPU."""

    model: Text
    """Model of the adapter, such as ``connectx-7``. On InfiniBand it selects the PCI device of SriovNetworkNodePolicies
    and must be known."""
    gbits: int = Field(ge=1, le=3200)
    """Rate of one port in Gbit/s."""


class PortUse(StrEnum):
    """What a pod gets of the ports of a node."""

    FUNCTIONS = "functions"
    """The pod gets virtual functions of ports, each in the partition of its VPC, by SR-IOV."""
    WHOLE = "whole"
    """The pod gets ports whole, in the partitions that UFM has them in."""
    SHARED = "shared"
    """The pod gets all ports, and so do the other pods of the node that ask: nothing keeps them from each other."""


class RdmaSpec(CheckedSpec):
    """How pods get the ports of a node on its fabric, and with them RDMA."""

    ports: PortUse = PortUse.FUNCTIONS
    """What a pod gets of the ports. Golden images make virtual functions of them, or none where ports are whole: a port
    that has some is not handed out. Shared ones may have some, which nobody gets."""
    exclusive: bool = False
    """Whether an RDMA device is in one network namespace alone, so that no other pod of the node sees it. Golden images
    decide (``contents.rdma_exclusive``), and those of the type must agree."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield whole and shared ports whose devices would have to move."""
        if self.exclusive and self.ports is not PortUse.FUNCTIONS:
            text = (
                f"cannot be kept for {self.ports} ports, whose devices stay with the node; write false, or ports:"
                " functions"
            )
            yield Misfit(text, ("exclusive",), self.exclusive)


class Scale(StrEnum):
    """What an instance type is bought and fails in."""

    NODE = "node"
    """Each node is bought alone and fails alone."""
    RACK = "rack"
    """A rack is one NVLink domain of ``nodes_per_rack`` nodes, such as NVL72 with 18 nodes of 4 GPUs."""


class InstanceType(CheckedSpec):
    """A hardware class. Hosts that differ in anything but identity are another instance type."""

    name: Label
    """Unique name of the hardware class, which inventory, images and pools refer to."""
    scale: Scale = Scale.NODE
    """Whether nodes of the type fail one by one or with their rack."""
    cpu_model: Text
    """Model of the CPU as its vendor writes it, for people."""
    architecture: Architecture = Architecture.AMD64
    """Instruction set of the CPU; images for another do not boot."""
    cpus: int = Field(ge=1, le=1024)
    """Number of hardware threads of one node."""
    memory: Quantity
    """Memory of one node, in bytes with a binary unit such as ``2048Gi``. VM sizes must fit it, and the cluster
    autoscaler is told."""
    gpu: GpuSpec | None = None
    """GPUs of one node; left out for nodes without."""
    nics: NicsSpec | None = None
    """Network adapters of one node beside its DPU; required for types on InfiniBand."""
    infiniband_ports: int = Field(default=0, ge=0, le=16)
    """Number of ports of one node on the InfiniBand fabric of the host's hall."""
    roce_ports: int = Field(default=0, ge=0, le=16)
    """Number of ports of one node on the Ethernet fabric with ``roce`` of the host's hall, beside those of its DPU."""
    roce_interfaces: tuple[InterfaceName, ...] = ()
    """Names of the ports on RoCE as golden images have them, such as ``enp26s0f0np0``, in the order of the fabric's
    rails. They are required where pods get virtual functions of ports."""
    rdma: RdmaSpec | None = None
    """How pods get the ports on the fabric. Without it they get virtual functions of InfiniBand ports, whose RDMA
    devices all namespaces of the node see, and nothing of ports on RoCE, which can give ``functions`` or be
    ``shared``."""
    ethernet_ports: int = Field(default=2, ge=1, le=8)
    """Number of ports of one node to leaf switches."""
    dpu: DpuSpec
    """The DPU of one node; every host has one."""
    nvme_disks: int = Field(ge=0, le=32)
    """Number of local disks of one node for scratch volumes, beside the one it boots from."""
    nvme_disk_size: Quantity | None = None
    """Size of one local disk, such as ``3576Gi``; nothing that lies on the disks is checked against it when it is left
    out."""
    nodes_per_rack: int = Field(ge=1, le=48)
    """Number of nodes a rack has room, power and ports for. For a rack-scale type it is exactly the nodes of its NVLink
    domain."""
    max_pods: int = Field(default=110, ge=16, le=1024)
    """Most pods that a node may run; a cluster may say otherwise."""
    root_device: RootDeviceSpec | None = None
    """Disk that images are written to; required for hosts that Metal3 provisions."""

    @property
    def rdma_exclusive(self) -> bool:
        """Tell whether an RDMA device of a node is in one network namespace alone."""
        return self.rdma is not None and self.rdma.exclusive

    @property
    def shares_roce(self) -> bool:
        """Tell whether pods on the network of a node get the RDMA devices of its ports on RoCE."""
        return bool(self.roce_ports) and self.port_use is PortUse.SHARED

    @property
    def cuts_roce(self) -> bool:
        """Tell whether pods get virtual functions of a node's ports on RoCE, with addresses of its rails."""
        return bool(self.roce_ports) and self.rdma is not None and self.port_use is PortUse.FUNCTIONS

    @property
    def port_use(self) -> PortUse:
        """Return what a pod gets of the ports of a node on its fabric."""
        return PortUse.FUNCTIONS if self.rdma is None else self.rdma.ports

    @property
    def spans_nodes(self) -> bool:
        """Tell whether NVLink connects GPUs of several nodes."""
        return self.scale is Scale.RACK and self.gpu is not None

    def misfits(self) -> Iterator[Misfit]:
        """Yield sizes that no machine has, ports that are not there, and hints that match too many disks."""
        if self.roce_ports and self.infiniband_ports:
            text = f"is for nodes on RoCE alone, and infiniband_ports is {self.infiniband_ports}; remove it"
            yield Misfit(text, ("roce_ports",), self.roce_ports)
        if self.roce_ports and self.port_use is PortUse.WHOLE:
            text = "cannot be given on RoCE, where ports stay on the network of the node; write functions, or shared"
            yield Misfit(text, ("rdma", "ports"), str(self.port_use))
        elif self.rdma is not None and not self.infiniband_ports and not self.roce_ports:
            yield Misfit("is about ports on InfiniBand, and infiniband_ports is 0; remove it", ("rdma",))
        yield from self._unnamed_ports()
        if self.port_use is not PortUse.FUNCTIONS and len(self.name) > _MAX_POLICY:
            text = (
                f"has more than {_MAX_POLICY} characters, which the Network Operator refuses for what hands out"
                f" {self.port_use} ports; shorten it, or write ports: functions"
            )
            yield Misfit(text, ("name",), self.name)
        sizes = {"memory": (self.memory, _MEMORY), "nvme_disk_size": (self.nvme_disk_size, _DISK)}
        for key, (size, (least, most)) in sizes.items():
            if size is not None and not bytes_of(least) <= bytes_of(size) <= bytes_of(most):
                other = {"P": "T", "T": "G"}.get(size[-2], "G")
                text = f"no machine has that, but {least} to {most}; is {size[:-2]}{other}i meant?"
                yield Misfit(text, (key,), size)
        if self.root_device is not None and self.nvme_disks and not self.root_device.tells_apart(self.nvme_disk_size):
            size = f" of {self.nvme_disk_size}" if self.nvme_disk_size else ""
            text = (
                f"may be one of the {self.nvme_disks} disks{size} for scratch volumes too (nvme_disks), and the first"
                " that matches is taken; add model or device_name of the disk to boot from"
            )
            yield Misfit(text, ("root_device",))

    def _unnamed_ports(self) -> Iterator[Misfit]:
        """Yield ports on RoCE that are not told apart by their names, and names that nothing asks for."""
        names = self.roce_interfaces
        if names and not self.cuts_roce:
            text = "is for types whose pods get functions on RoCE; remove it, or write rdma: {ports: functions}"
            yield Misfit(text, ("roce_interfaces",))
        elif self.cuts_roce and (len(names), len({*names})) != (self.roce_ports, self.roce_ports):
            text = f"has {len({*names})} names, and roce_ports is {self.roce_ports}; name each port once, by rail"
            yield Misfit(text, ("roce_interfaces",))


class InstanceTypeCatalog(DataFile):
    """``catalog/instance_types.yaml``."""

    instance_types: tuple[InstanceType, ...] = Field(min_length=1)
    """Hardware classes that hosts and pools of any environment may be of."""

    @cached_property
    def by_name(self) -> dict[str, InstanceType]:
        """Return the instance types by their names."""
        return {kind.name: kind for kind in self.instance_types}

    def __copy__(self) -> Self:
        """Copy without what is remembered, since a copy may get other instance types."""
        copied = super().__copy__()
        copied.__dict__.pop("by_name", None)
        return copied
