"""Values of the chart for ordering virtual machines: the fields of VMs in data, and referenced objects."""

from typing import Literal

from pydantic import Field

from components.specs.base import Address, DnsLabel, Domain, Label, LabelValue, QualifiedName, Quantity, ShortName, Spec
from components.specs.pools.node_pool import TaintEffect
from components.specs.vms.tenant_images import OwnImageSpec
from components.specs.vms.vm_sizes import EvictionStrategy

FOLDER = "charts/virtual-machine"
"""Folder of the chart in a clone."""
NAME = "virtual-machine"
"""Name of the chart."""


class ChartSizeSpec(Spec):
    """Size of VMs in the cluster."""

    instancetype: str = Field(min_length=1, max_length=253)
    """Name of the VirtualMachineClusterInstancetype."""
    root_disk: Quantity
    """Size of an ephemeral root disk."""
    eviction: EvictionStrategy | None = None
    """Handling of the VM when its node is drained; by default the setting of the cluster."""


class ChartClassSpec(Spec):
    """Properties of volumes of a storage class."""

    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"]
    """Whether one node or many nodes can write to a volume."""
    volume_mode: Literal["Filesystem", "Block"]
    """Whether a disk is a file or a device."""


class ChartTolerationSpec(Spec):
    """Taint of nodes for VMs, tolerated by all VMs."""

    key: QualifiedName
    """Key of the taint."""
    operator: Literal["Equal"]
    """Comparison of the taint's value."""
    value: LabelValue
    """Value of the taint; empty for a taint without a value."""
    effect: TaintEffect
    """Effect of the taint on other pods."""


class ChartAddressSpec(Spec):
    """Public address allocated by the platform."""

    address: Address
    """Address that the cluster announces."""
    host_name: Domain | None = None
    """DNS name of the address; no name is published by default."""


class ChartCatalogSpec(Spec):
    """Objects in one cluster for the names of an order, as printed by ``jacquard show`` (``--example``, ``--helm``)."""

    namespace: DnsLabel
    """Namespace of images. VMs with an ephemeral root disk must be in it."""
    preference: str = Field(min_length=1, max_length=253)
    """Name of the VirtualMachineClusterPreference of the guest."""
    sizes: dict[Label, ChartSizeSpec]
    """Sizes that can be ordered, by name."""
    images: dict[Label, dict[Quantity, Label]]
    """Golden volumes of the images that can be ordered, by image and size of the root disk."""
    storage_classes: dict[DnsLabel, ChartClassSpec]
    """Storage classes of the cluster, by name."""
    tolerations: tuple[ChartTolerationSpec, ...] = ()
    """Taints of the nodes that run VMs."""
    public_addresses: dict[ShortName, ChartAddressSpec] = Field(default_factory=dict)
    """Public addresses allocated by the platform, by VM name."""


class ChartValuesSpec(Spec):
    """Values of the chart in addition to the fields of VMs in data."""

    keys_secret: DnsLabel | None = None
    """Secret in the namespace of the VM whose entries are public SSH keys of the image's default user."""
    own_image: OwnImageSpec | None = None
    """Image of the tenant for the root disk, instead of ``image``: from a web server with its SHA-256, from a registry
    with its digest, or a disk of the cluster. Its Secret is in the namespace of the VM."""
    catalog: ChartCatalogSpec
    """Objects in the cluster for the names of an order."""
