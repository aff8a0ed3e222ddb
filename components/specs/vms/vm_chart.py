"""Values of the chart for ordering virtual machines: the fields of VMs in data, and referenced objects."""

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
"""File name of the schema of the values, for Helm and editors."""
NAME = "virtual-machine"
"""Name of the chart."""
LEFT_OUT = ("snapshots", "sysprep_secret")
"""Fields of VMs in data that the chart omits. Snapshots are taken by a job of the platform for VMs in the data only,
and the chart does not support Windows."""


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


_MEANINGS = {
    "size": "Size of the VM, one of `catalog.sizes`.",
    "image": "Operating system of the VM, one of `catalog.images`.",
    "pool": "Pool whose nodes run the VM; any pool for VMs by default.",
    "public_ip": "Whether the VM has the public address of its name in `catalog.public_addresses`.",
    "user_data_secret": "Secret in the namespace of the VM whose key `userdata` is the complete cloud-init user data of"
    " the VM, including mounts of its volumes; generated from `users` and `volumes` by default.",
}
"""Descriptions of fields that refer to other objects than the same fields in data."""


def values_schema() -> dict[str, Any]:
    """Return the schema of the values, generated from the models of VMs in data."""
    order, words = _without_null(model_schema(VirtualMachineSpec)), _without_null(model_schema(ChartValuesSpec))
    properties = {name: found for name, found in order["properties"].items() if name not in LEFT_OUT}
    for name, meaning in _MEANINGS.items():
        properties[name] = {**properties[name], "description": meaning}
    definitions = {**order["definitions"], **words["definitions"]}
    definitions["OwnImageSpec"] = _source(definitions["OwnImageSpec"])
    del definitions["GuestSystem"]  # The chart supports Linux only, so a source has no operating system.
    for name in ("RootSpec", "VolumeSpec"):
        definitions[name]["properties"]["storage_class"]["description"] = "Class, one of `catalog.storage_classes`."
    return {
        "type": "object",
        "description": "Order of a VM, or of a fleet of identical VMs.",
        "additionalProperties": False,
        # Helm adds `global` to the values of a subchart.
        "properties": properties | words["properties"] | {"global": {"type": "object"}},
        "required": ["name", "size", "catalog"],
        "definitions": dict(sorted(definitions.items())),
    }


def values_schema_text() -> str:
    """Return the schema of the values as the text of its file."""
    return text_of(f"values of the chart {NAME}", values_schema())


def _without_null(schema: Any) -> Any:
    """Return a schema without null types, because Helm treats a key with a null value as set."""
    if isinstance(schema, list):
        return [_without_null(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {key: _without_null(value) for key, value in schema.items() if key != "anyOf"}
    ways = [_without_null(way) for way in schema.get("anyOf", ()) if way != {"type": "null"}]
    match ways:
        case []:
            return rest
        case [{"$ref": _}]:
            return {"allOf": ways, **rest}
        case [way]:
            return way | rest
    return {"anyOf": ways, **rest}


def _source(image: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an image reduced to its source, without name, version and size."""
    sources = {name: found for name, found in image["properties"].items() if name not in (*image["required"], "os")}
    return {key: value for key, value in image.items() if key != "required"} | {"properties": sources}
