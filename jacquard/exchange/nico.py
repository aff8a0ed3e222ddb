"""Reads and writes expected machines of NVIDIA Infra Controller (NICo).

The format is the input of ``nico-admin-cli expected-machine replace-all``. Values without a field are in
``metadata.labels``; NICo allows ten labels for each object.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_text import cells
from components.specs.reading.problems import Problem
from jacquard.exchange.documents import duplicate, read_json, twice
from jacquard.exchange.records import Record, record

_KEY = "expected_machines"
_OTHER_API = "chassisSerialNumber"
"""Field of NICo's REST API, whose fields have other names."""
OWN = ("bmc_mac_address", "sku_id")
"""Fields of NICo that the inventory does not have."""
REQUIRED = ("bmc_mac_address",)
_LABELS = ("hall", "slot", "instance_type", "bmc", "bmc_secret", "leaf", "dpu_bmc", "port_guids")
SOURCES: Mapping[str, tuple[str, ...]] = {
    "host": ("metadata.name",),
    "serial": ("chassis_serial_number", "serial_number"),
    "rack": ("rack_id",),
    "boot_mac": ("boot_nic.mac_address",),
    "dpu_serial": ("fallback_dpu_serial_numbers",),
    **{column: (f"labels.{column}",) for column in _LABELS if column != "dpu_bmc"},
    "dpu_bmc": ("labels.dpu_bmc", "dpu_nic.fixed_ip"),
}
ADDRESSES = ("bmc_ip_address", "bmc_nic.fixed_ip")
_ROLES = {"boot_nic": "host", "dpu_nic": "dpu_bmc", "bmc_nic": "host_bmc"}
"""Role of the interfaces in each key of a record; an interface without a role belongs to the host."""


def read_nico(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the expected machines and errors of ``text``.

    A record has the fields of the machine, ``labels`` by key, and the interfaces of the host, of the DPU's BMC and of
    the host's BMC as ``boot_nic``, ``dpu_nic`` and ``bmc_nic``.
    """
    entries, problems = read_json(file, text, _KEY)
    records = []
    for line, machine in entries:
        if isinstance(machine, dict) and _OTHER_API in machine:
            rule = "is a machine of NICo's REST API; write the output of nico-admin-cli -f json expected-machine show"
            problems.append(Problem(file, line, "", rule))
        elif isinstance(machine, dict) and _KEY not in machine:
            labels, duplicates = _labels(machine)
            records.append(record(line, {**machine, "labels": labels, **_nics(machine)}))
            problems += [duplicate(file, line, "metadata.labels", key) for key in duplicates]
        else:
            rule = f'is not an expected machine; write {{"{_KEY}": [...]}} with one object per machine'
            problems.append(Problem(file, line, "", rule))
    return records, problems


def write_nico(hosts: Iterable[HostSpec], own: Mapping[str, Mapping[str, str]]) -> str:
    """Return ``hosts`` with the values of ``own`` by host and field. Credentials stay empty."""
    return json.dumps({_KEY: [_machine(host, own[host.host]) for host in hosts]}, indent=2, ensure_ascii=False) + "\n"


def _machine(host: HostSpec, own: Mapping[str, str]) -> dict[str, Any]:
    values = cells(host) | {"hall": host.hall}
    labels = [{"key": label, "value": values[label]} for label in _LABELS if values[label]]
    return {
        "bmc_mac_address": own.get("bmc_mac_address", ""),
        "bmc_username": "",
        "bmc_password": "",
        "bmc_ip_address": parse_bmc(host.bmc).host,
        "chassis_serial_number": host.serial,
        "fallback_dpu_serial_numbers": [host.dpu_serial],
        "host_nics": [{"mac_address": host.boot_mac, "primary": True}],
        "rack_id": host.rack,
        **({"sku_id": own["sku_id"]} if own.get("sku_id") else {}),
        "metadata": {"name": host.host, "description": "", "labels": labels},
    }


def _labels(machine: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the labels of a machine, and the keys of duplicate labels."""
    metadata = machine.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    if isinstance(labels, dict):
        return labels, []
    entries = labels if isinstance(labels, list) else []
    pairs = [(str(entry.get("key")), entry.get("value")) for entry in entries if isinstance(entry, dict)]
    return dict(pairs), twice(key for key, _ in pairs)


def _nics(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the interfaces of a machine by their key in a record; newer versions name the list ``interfaces``.

    Fields of several interfaces are lists, unless one of the interfaces is primary.
    """
    interfaces = machine.get("interfaces") or machine.get("host_nics")
    nics = [nic for nic in interfaces if isinstance(nic, dict)] if isinstance(interfaces, list) else []
    found = {}
    for key, role in _ROLES.items():
        same = [nic for nic in nics if str(nic.get("role") or "host").lower() == role]
        chosen = [nic for nic in same if nic.get("primary") is True] or same
        names = dict.fromkeys(name for nic in chosen for name in nic)
        found[key] = {name: [nic[name] for nic in chosen if nic.get(name)] for name in names}
    return found
