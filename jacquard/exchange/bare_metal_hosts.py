"""Reads the output of ``kubectl get baremetalhosts -A -o json`` or ``-o yaml``."""

from collections.abc import Mapping
from typing import Any

from components.render import labels
from components.specs.reading.problems import Problem, shown
from jacquard.exchange.documents import read_json, read_yaml
from jacquard.exchange.records import Record, record
from jacquard.providers.kube.objects import dig

SOURCES: Mapping[str, tuple[str, ...]] = {
    "host": ("metadata.name",),
    "serial": ("hardware.systemVendor.serialNumber",),
    "bmc": ("spec.bmc.address",),
    "bmc_secret": ("spec.bmc.credentialsName",),
    "boot_mac": ("spec.bootMACAddress",),
    "hall": (f"labels.{labels.HALL}",),
    "rack": (f"labels.{labels.RACK}",),
    "leaf": (f"labels.{labels.LEAF}",),
    "instance_type": (f"labels.{labels.INSTANCE_TYPE}",),
}
_PATHS = (
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("spec", "bmc", "address"),
    ("spec", "bmc", "credentialsName"),
    ("spec", "bootMACAddress"),
)
_HARDWARE = ("status", "hardware")


def read_bare_metal_hosts(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the hosts and errors of ``text``, which is JSON or YAML according to its first character.

    A record has the identifying fields of ``metadata`` and ``spec``, its ``labels``, and the chassis data of the
    inspection under ``hardware``.
    """
    read = read_json if text.lstrip()[:1] in {"{", "["} else read_yaml
    entries, problems = read(file, text, "items")
    records = []
    for line, body in entries:
        kind = dig(body, "kind")
        if kind == "BareMetalHost":
            records.append(record(line, _fields(body)))
        else:
            rule = f"is not a BareMetalHost (got {'kind ' + shown(kind) if isinstance(kind, str) else 'no kind'})"
            problems.append(Problem(file, line, "", f"{rule}; export only BareMetalHosts"))
    if not records and not problems:
        problems.append(
            Problem(file, 0, "", "has no BareMetalHost; export them with kubectl get baremetalhosts -A -o json")
        )
    return records, problems


def _fields(body: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for *path, last in _PATHS:
        inner = fields
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = dig(body, *path, last)
    names = dig(body, "metadata", "labels")
    vendor = dig(body, *_HARDWARE, "systemVendor")
    return {
        **fields,
        "labels": _texts(names),
        "hardware": {"hostname": dig(body, *_HARDWARE, "hostname"), "systemVendor": _texts(vendor)},
    }


def _texts(value: Any) -> dict[str, str]:
    """Return the entries of a mapping whose keys and values are strings."""
    entries = value.items() if isinstance(value, dict) else ()
    return {key: entry for key, entry in entries if isinstance(key, str) and isinstance(entry, str)}
