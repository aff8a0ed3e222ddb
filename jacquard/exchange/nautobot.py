"""Reads devices of Nautobot 2 and later: JSON of ``/api/dcim/devices/?depth=1``.

The objects are those of NetBox, with these differences (nautobot/nautobot:nautobot/dcim/models/devices.py): a hall is a
location below another one, because there are no sites; a device has no address of its BMC, which is therefore a custom
field; a status has a name and no value.
"""

from collections.abc import Mapping
from typing import Any

from components.specs.reading.inventory_text import PORT_GUIDS
from components.specs.reading.problems import Problem
from jacquard.exchange.documents import read_json
from jacquard.exchange.netbox import device_fields
from jacquard.exchange.records import Record, record

PARENT = "location.parent"
"""Key of the location above the location of a device; names of locations are unique within it only."""
_CUSTOM = ("slot", "instance_type", "bmc", "bmc_secret", "boot_mac", "dpu_serial", "leaf", "dpu_bmc")
SOURCES: Mapping[str, tuple[str, ...]] = {
    "host": ("name",),
    "serial": ("serial",),
    "rack": ("rack",),
    "hall": ("location",),
    **{column: (f"cf_{column}",) for column in (*_CUSTOM, PORT_GUIDS)},
}
_REFERENCE = {"id", "object_type", "url"}
"""Keys of a related object without ``depth`` (rest-api/overview.md of Nautobot 2)."""


def read_nautobot(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the devices and errors of ``text``, a list of devices or the answer of the API."""
    entries, problems = read_json(file, text, "results")
    records = []
    for line, device in entries:
        if not isinstance(device, dict):
            rule = "is not a device; write the answer of /api/dcim/devices/?depth=1"
            problems.append(Problem(file, line, "", rule))
        elif isinstance(kind := device.get("device_type"), dict) and kind.keys() <= _REFERENCE:
            rule = "has related objects without names; request /api/dcim/devices/?depth=1"
            problems.append(Problem(file, line, "device_type", rule))
        else:
            records.append(record(line, nautobot_fields(device)))
    return records, problems


def nautobot_fields(device: Mapping[str, Any]) -> dict[str, Any]:
    """Return a device with the keys of NetBox's CSV, and the location above its location at `PARENT`."""
    location = device.get("location")
    parent = location.get("parent") if isinstance(location, dict) else None
    above = (parent.get("name") or parent.get("id")) if isinstance(parent, dict) else parent
    return device_fields(device) | ({PARENT: above} if above else {})
