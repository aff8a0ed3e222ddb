"""Reads the output of ``kubectl get baremetalhosts -A -o json`` or ``-o yaml``."""

import re
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
_SCHEME = re.compile(r"([a-z][a-z0-9+-]*):(?![0-9]*$)")
"""Driver before an address, without slashes; a name before a port is no driver."""
_METADATA = ("name", "namespace", "deletionTimestamp")
_HARDWARE = ("status", "hardware")
_MARKS = {"inspect.metal3.io": "requested"}
"""Meaning of annotations without a value, if it is not ``set``."""


def read_bare_metal_hosts(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the hosts and errors of ``text``, which is JSON or YAML according to its first character.

    A record has the identifying fields of ``metadata``, its ``labels`` and ``annotations``, ``spec``, the chassis data
    of the inspection under ``hardware``, and the rest of ``status``.
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
    status, vendor = _object(dig(body, "status")), dig(body, *_HARDWARE, "systemVendor")
    spec = _object(dig(body, "spec"))
    address = dig(spec, "bmc", "address")
    if isinstance(address, str):
        spec = {**spec, "bmc": {**spec["bmc"], "address": _with_driver(address)}}
    annotations = _texts(dig(body, "metadata", "annotations"))
    return {
        "metadata": {key: dig(body, "metadata", key) for key in _METADATA},
        "labels": _texts(dig(body, "metadata", "labels")),
        "spec": spec,
        "hardware": {
            "hostname": dig(body, *_HARDWARE, "hostname"),
            "cpu": {"arch": dig(body, *_HARDWARE, "cpu", "arch")},
            "systemVendor": _texts(vendor),
        },
        "annotations": {key: value or _MARKS.get(key, "set") for key, value in annotations.items()},
        "status": {key: value for key, value in status.items() if key != "hardware"},
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _with_driver(address: str) -> str:
    """Return ``address`` with its driver: without a scheme, Metal3 uses IPMI (BMO:pkg/hardwareutils/bmc/access.go)."""
    scheme = _SCHEME.match(address)
    if "://" in address or not address:
        return address
    return f"{scheme[1]}://{address[scheme.end() :]}" if scheme else f"ipmi://{address}"


def _texts(value: Any) -> dict[str, str]:
    """Return the entries of a mapping whose keys and values are strings."""
    entries = value.items() if isinstance(value, dict) else ()
    return {key: entry for key, entry in entries if isinstance(key, str) and isinstance(entry, str)}
