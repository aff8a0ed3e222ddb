"""Values of the chart by which tenants order a virtual machine: the words of an order as data, and what they name."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from components.specs.base import Address, DnsLabel, Domain, Label, LabelValue, QualifiedName, Quantity, ShortName, Spec
from components.specs.pools.node_pool import TaintEffect
from components.specs.reading.schema import model_schema, text_of
from components.specs.vms.tenant_images import OwnImageSpec
from components.specs.vms.vm_offering import VirtualMachineSpec
from components.specs.vms.vm_sizes import EvictionStrategy

FOLDER = "charts/virtual-machine"
"""Folder of the chart in a clone."""
FILE = f"{FOLDER}/values.schema.json"
"""File that helm holds values to, and editors."""
NAME = "virtual-machine"
"""Name of the chart."""
LEFT_OUT = ("snapshots", "sysprep_secret")
"""Words of an order as data that the chart has not: a job of the platform takes snapshots, of machines in the data, and
the chart orders no Windows."""


class ChartSizeSpec(Spec):
    """What a size is in the cluster."""

    instancetype: str = Field(min_length=1, max_length=253)
    """Name of the VirtualMachineClusterInstancetype."""
    root_disk: Quantity
    """Size of an ephemeral root."""
    eviction: EvictionStrategy | None = None
    """What becomes of the VM whose node is drained; what holds for all of the cluster when it is left out."""


class ChartClassSpec(Spec):
    """What volumes of a storage class are."""

    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"]
    """Whether one node writes a volume, or many."""
    volume_mode: Literal["Filesystem", "Block"]
    """Whether a disk is a file or a device."""


class ChartTolerationSpec(Spec):
    """A taint of nodes for VMs that keeps no VM away."""

    key: QualifiedName
    """Key of the taint."""
    operator: Literal["Equal"]
    """How the taint's value is compared."""
    value: LabelValue
    """Value of the taint; empty for a taint that has none."""
    effect: TaintEffect
    """What the taint does to other pods."""


class ChartAddressSpec(Spec):
    """A public address that the platform handed out."""

    address: Address
    """Address, which the cluster announces."""
    host_name: Domain | None = None
    """Name of the address; none is written when it is left out."""


class ChartCatalogSpec(Spec):
    """What names of an order stand for in one cluster, as ``jacquard show`` prints it (``--example``, ``--helm``)."""

    namespace: DnsLabel
    """Namespace of images, and the only one for VMs with an ephemeral root."""
    preference: str = Field(min_length=1, max_length=253)
    """Name of the VirtualMachineClusterPreference of the guest."""
    sizes: dict[Label, ChartSizeSpec]
    """Sizes that can be ordered, by name."""
    images: dict[Label, dict[Quantity, Label]]
    """Golden volumes of images that can be ordered, by image and size of root disk."""
    storage_classes: dict[DnsLabel, ChartClassSpec]
    """Storage classes of the cluster, by name."""
    tolerations: tuple[ChartTolerationSpec, ...] = ()
    """Taints of the nodes that run VMs."""
    public_addresses: dict[ShortName, ChartAddressSpec] = Field(default_factory=dict)
    """Public addresses that the platform handed out, by name of the VM."""


class ChartWordsSpec(Spec):
    """What values have beside the words of an order as data."""

    keys_secret: DnsLabel | None = None
    """Secret in the namespace of the VM whose entries are public SSH keys of the image's own user."""
    own_image: OwnImageSpec | None = None
    """Image of one's own that the root is filled from, in place of ``image``: of a web server by its SHA-256, of a
    registry by its digest, or a disk of the cluster. Its Secret is in the namespace of the VM."""
    catalog: ChartCatalogSpec
    """What names stand for in the cluster."""


_MEANINGS = {
    "size": "Size of the VM, one of `catalog.sizes`.",
    "image": "Operating system of the VM, one of `catalog.images`.",
    "pool": "Pool for VMs whose nodes run the VM; any of them when it is left out.",
    "public_ip": "Whether the VM has the public address that `catalog.public_addresses` has for its name.",
    "user_data_secret": "Secret in the namespace of the VM whose key `userdata` is the whole cloud-init user data of"
    " the VM, mounts of its volumes too; made of `users` and `volumes` when it is left out.",
}
"""Words that name what is elsewhere than in data."""


def values_schema() -> dict[str, Any]:
    """Return the schema of values, made from the models of an order as data."""
    order, words = _said(model_schema(VirtualMachineSpec)), _said(model_schema(ChartWordsSpec))
    properties = {name: found for name, found in order["properties"].items() if name not in LEFT_OUT}
    for name, meaning in _MEANINGS.items():
        properties[name] = {**properties[name], "description": meaning}
    definitions = {**order["definitions"], **words["definitions"]}
    definitions["OwnImageSpec"] = _source(definitions["OwnImageSpec"])
    del definitions["GuestSystem"]  # a source says nothing of what is in it: the chart orders Linux
    for name in ("RootSpec", "VolumeSpec"):
        definitions[name]["properties"]["storage_class"]["description"] = "Class, one of `catalog.storage_classes`."
    return {
        "type": "object",
        "description": "An order of a VM, or of a fleet of VMs that are alike.",
        "additionalProperties": False,
        # Helm adds `global` to the values of a chart that another one depends on.
        "properties": properties | words["properties"] | {"global": {"type": "object"}},
        "required": ["name", "size", "catalog"],
        "definitions": dict(sorted(definitions.items())),
    }


def values_schema_text() -> str:
    """Return the schema of values as the text of its file."""
    return text_of(f"values of the chart {NAME}", values_schema())


def _said(found: Any) -> Any:
    """Return a schema in which nobody says that something is nothing: to helm a key that is null is there."""
    if isinstance(found, list):
        return [_said(entry) for entry in found]
    if not isinstance(found, dict):
        return found
    rest = {key: _said(value) for key, value in found.items() if key != "anyOf"}
    ways = [_said(way) for way in found.get("anyOf", ()) if way != {"type": "null"}]
    match ways:
        case []:
            return rest
        case [{"$ref": _}]:
            return {"allOf": ways, **rest}
        case [way]:
            return way | rest
    return {"anyOf": ways, **rest}


def _source(image: dict[str, Any]) -> dict[str, Any]:
    """Return the form of an image as a source alone: it is no entry of a list, so it has no name, version and size."""
    sources = {name: found for name, found in image["properties"].items() if name not in (*image["required"], "os")}
    return {key: value for key, value in image.items() if key != "required"} | {"properties": sources}
