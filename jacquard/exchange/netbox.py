"""Reads and writes devices of NetBox: CSV for bulk import or from exported tables, or JSON of ``/api/dcim/devices/``.

Values without a NetBox field are custom fields: ``cf_<name>`` in CSV for import, ``custom_fields`` in JSON, the bare
label in an exported table. Because a slot is not a rack unit, ``position`` is read only if an option maps it to a
column.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_text import PORT_GUIDS, cells, optional_column
from components.specs.reading.problems import Problem
from jacquard.exchange.documents import read_json
from jacquard.exchange.records import Record, record
from jacquard.exchange.tables import read_table, write_table

OWN = ("role", "manufacturer", "device_type", "status", "site", "platform", "tenant", "asset_tag", "position", "face")
"""Columns of NetBox that the inventory does not have."""
REQUIRED = ("role", "manufacturer", "device_type", "status", "site")
DEFAULTS = ("device_type", "status")
"""Columns that default to the instance type, and to the status for the state of the host."""
_CUSTOM = ("slot", "instance_type", "bmc", "bmc_secret", "boot_mac", "dpu_serial", "leaf", "dpu_bmc")
SOURCES: Mapping[str, tuple[str, ...]] = {
    "host": ("name",),
    "serial": ("serial", "serial_number"),
    "rack": ("rack",),
    "hall": ("location",),
    **{column: (f"cf_{column}", column) for column in (*_CUSTOM, PORT_GUIDS)},
}
ADDRESSES = ("oob_ip",)
_COLUMNS = ("name", *OWN[:5], "location", "rack", "serial", *OWN[5:])
_NAMES = ("name", "model", "value", "address", "display")
"""Keys that can contain the name of a referenced object, by preference."""


def read_netbox(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the devices and errors of ``text``, which is CSV or JSON according to its first character."""
    if text.lstrip()[:1] in {"{", "["}:
        return _read_devices(file, text)
    rows, problems = read_table(file, text)
    return [record(line, {_column(name): value for name, value in row.items()}) for line, row in rows], problems


def write_netbox(hosts: Iterable[HostSpec], own: Mapping[str, Mapping[str, str]]) -> str:
    """Return ``hosts`` for NetBox's bulk import of devices, with the values of ``own`` by host and column."""
    listed = tuple(hosts)
    custom = (*_CUSTOM, *optional_column(PORT_GUIDS, listed))
    columns = (*_COLUMNS, *(f"cf_{column}" for column in custom))
    rows = []
    for host in listed:
        values = cells(host)
        row = {**dict.fromkeys(columns, ""), "device_type": host.instance_type, **own[host.host]}
        row |= {"name": host.host, "location": host.hall, "rack": host.rack, "serial": host.serial}
        row |= {f"cf_{column}": values[column] for column in custom}
        rows.append([row[column] for column in columns])
    return write_table(columns, rows)


def _column(name: str) -> str:
    """Return the name of a column from its heading in an exported table, such as ``Serial number``."""
    return name.lower().replace(" ", "_")


def _read_devices(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    entries, problems = read_json(file, text, "results")
    records = []
    for line, device in entries:
        if isinstance(device, dict) and {"model", "pk"} <= device.keys():
            problems.append(
                Problem(file, line, "", "is an object of a database dump; write the response of /api/dcim/devices/")
            )
        elif isinstance(device, dict):
            records.append(record(line, device_fields(device)))
        else:
            problems.append(Problem(file, line, "", "is not a device; write the response of /api/dcim/devices/"))
    return records, problems


def device_fields(device: Mapping[str, Any]) -> dict[str, Any]:
    """Return a device of an API with the keys of CSV, and with names instead of referenced objects."""
    custom = device.get("custom_fields")
    fields = {f"cf_{name}": _csv_value(value) for name, value in custom.items()} if isinstance(custom, dict) else {}
    return fields | {name: _csv_value(value) for name, value in device.items() if name != "custom_fields"}


def _csv_value(value: Any) -> Any:
    """Return ``value`` in CSV form: a referenced object is replaced by its name."""
    if not isinstance(value, dict):
        return value
    return next((value[name] for name in _NAMES if isinstance(value.get(name), str)), value)
