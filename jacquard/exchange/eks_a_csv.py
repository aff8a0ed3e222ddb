"""Reads and writes the hardware CSV of EKS Anywhere on bare metal.

Columns: anywhere.eks.amazonaws.com, "Prepare hardware inventory". EKS Anywhere skips unknown columns. Values without a
column in EKS Anywhere are therefore in additional columns at the end; values that a ``hardwareSelector`` can match are
in ``labels``.
"""

from collections.abc import Iterable, Mapping

from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_text import PORT_GUIDS, cells, optional_column
from components.specs.reading.problems import Problem
from jacquard.exchange.documents import duplicate, twice
from jacquard.exchange.records import Record, record
from jacquard.exchange.tables import read_table, write_table

OWN = ("ip_address", "netmask", "gateway", "nameservers", "disk", "vlan_id")
"""Columns of EKS Anywhere that the inventory does not have."""
REQUIRED = ("ip_address", "netmask", "gateway", "nameservers", "disk")
_LABELS = ("hall", "rack", "slot", "instance_type", "leaf")
_EXTRA = ("serial", "bmc", "bmc_secret", "dpu_serial", "dpu_bmc")
SOURCES: Mapping[str, tuple[str, ...]] = {
    "host": ("hostname",),
    "boot_mac": ("mac",),
    **{column: (f"labels.{column}", column) for column in _LABELS},
    **{column: (column,) for column in (*_EXTRA, PORT_GUIDS)},
}
ADDRESSES = ("bmc_ip",)
_COLUMNS = (
    *("hostname", "bmc_ip", "bmc_username", "bmc_password", "mac", "ip_address", "netmask", "gateway", "nameservers"),
    *("labels", "disk", "vlan_id"),
)


def read_eks_a_csv(file: str, text: str) -> tuple[list[Record], list[Problem]]:
    """Return the machines and errors of ``text``; each label in ``labels`` is read separately."""
    rows, problems = read_table(file, text)
    records = []
    for line, row in rows:
        parts = [label.partition("=") for label in row.get("labels", "").split("|")]
        pairs = [(key.strip(), value) for key, _, value in parts if key.strip()]
        records.append(record(line, {**row, "labels": dict(pairs)}))
        problems += [duplicate(file, line, "labels", key) for key in twice(key for key, _ in pairs)]
    return records, problems


def write_eks_a_csv(hosts: Iterable[HostSpec], own: Mapping[str, Mapping[str, str]]) -> str:
    """Return ``hosts`` with the values of ``own`` by host and column. Credentials stay empty."""
    listed = tuple(hosts)
    extra = (*_EXTRA, *optional_column(PORT_GUIDS, listed))
    columns = (*_COLUMNS, *extra)
    rows = []
    for host in listed:
        row = {**dict.fromkeys(columns, ""), **own[host.host]}
        values = cells(host) | {"hall": host.hall}
        row |= {column: values[column] for column in extra}
        row |= {"hostname": host.host, "bmc_ip": parse_bmc(host.bmc).host, "mac": host.boot_mac}
        row["labels"] = "|".join(f"{label}={values[label]}" for label in _LABELS)
        rows.append([row[column] for column in columns])
    return write_table(columns, rows)
