"""Schema of the values of the chart for ordering virtual machines, for Helm and editors."""

from typing import Any

from components.specs.reading.schema import model_schema, text_of
from components.specs.vms.vm_chart import FOLDER, NAME, ChartValuesSpec
from components.specs.vms.vm_offering import VirtualMachineSpec

FILE = f"{FOLDER}/values.schema.json"
"""File name of the schema of the values."""
LEFT_OUT = ("snapshots", "sysprep_secret")
"""Fields of VMs in data that the chart omits. Snapshots are taken by a job of the platform for VMs in the data only,
and the chart does not support Windows."""
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
