"""Every field of a foreign format is read, rejected, reported or known to have no effect; none is ignored silently."""

from __future__ import annotations

import copy
import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.specs.reading.problems import SpecError
from jacquard.exchange.choices import Choices
from jacquard.exchange.conversion import Converter
from jacquard.exchange.formats import SOURCES, SourceFormat
from jacquard.exchange.netbox import _column
from jacquard.exchange.records import is_credential
from jacquard.exchange.treatments import Treatment, covering, treatments
from tests.support.exchange.foreign_files import import_hosts
from tests.support.objects.published_crds import CrdFolder

FIELDS: dict[str, dict[str, list[str]]] = yaml.safe_load((Path(__file__).parent / "fields.yaml").read_text("utf-8"))
DERIVED = {"boot_nic", "dpu_nic", "bmc_nic", "labels", "annotations", "hardware"}
"""Keys of records that readers derive from fields of the format."""
CELLS = {"slot": "1", "instance_type": "h100-ib-8", "bmc_secret": "bmc-a09", "dpu_serial": "MT26A0901"}
CELLS |= {"leaf": "leaf-a9"}
LABELS = {f"jacquard.dev/{name}": value for name, value in (("hall", "a"), ("rack", "a09"), ("leaf", "leaf-a9"))}
HOSTS: dict[str, dict[str, Any]] = {
    "netbox": {"name": "a09-u01", "serial": "G26A0901", "rack": "a09", "location": "a", "oob_ip": "10.1.9.1/16"},
    "nautobot": {"name": "a09-u01", "serial": "G26A0901", "rack": {"name": "a09"}, "location": {"name": "a"}}
    | {"custom_fields": {"bmc": "10.1.9.1"}},
    "eks-a-csv": {"hostname": "a09-u01", "bmc_ip": "10.1.9.1", "mac": "02:00:00:01:09:01", "serial": "G26A0901"},
    "nico": {
        "chassis_serial_number": "G26A0901",
        "fallback_dpu_serial_numbers": ["MT26A0901"],
        "bmc_ip_address": "10.1.9.1",
        "rack_id": "a09",
        "interfaces": [{"mac_address": "02:00:00:01:09:01"}],
        "metadata": {"name": "a09-u01", "labels": {"leaf": "leaf-a9"}},
    },
    "bare-metal-hosts": {
        "kind": "BareMetalHost",
        "metadata": {"name": "a09-u01", "labels": {**LABELS, "jacquard.dev/instance-type": "h100-ib-8"}},
        "spec": {
            "bmc": {"address": "redfish+https://10.1.9.1/redfish/v1/Systems/1", "credentialsName": "bmc-a09"},
            "bootMACAddress": "02:00:00:01:09:01",
        },
        "status": {"hardware": {"systemVendor": {"serialNumber": "G26A0901"}}},
    },
}
FIXED = {**CELLS, "rack": "a09", "boot_mac": "02:00:00:01:09:01"}
IDENTITIES = {"kind", "metadata", "interfaces[].mac_address", "host_nics[].mac_address"}
"""Identifying fields of a host, whose values are restricted."""
ROWS = [
    (name, field)
    for name in HOSTS
    for field, row in treatments(name).items()
    if not (row.ignore and field in {*DERIVED, *IDENTITIES})
]


def used(name: str) -> tuple[str, ...]:
    """Return the keys of a format that become columns."""
    return Converter("", SOURCES[SourceFormat(name)], Choices(), {}, ()).used


def with_value(name: str, field: str, value: str, host: str) -> dict[str, Any]:
    """Return a machine of the format with ``value`` at ``field``."""
    body = copy.deepcopy(HOSTS[name])
    path = field.replace("[]", "").split(".")
    if name == "bare-metal-hosts":
        body["metadata"]["name"] = host
        first, _, rest = field.partition(".")
        parts = {
            "labels": ["metadata", "labels", rest or "odd"],
            "annotations": ["metadata", "annotations", rest or "odd"],
        }
        path = parts.get(first, ["status", *path] if first == "hardware" else path)
        path = ["status", "odd"] if field == "status" else path
    elif name == "nico":
        body["metadata"]["name"] = host
        path = ["metadata", "labels", "odd"] if field == "labels" else path
        if field.startswith(("interfaces", "host_nics")):
            leaf = path[1] if len(path) > 1 else "fixed_ip"
            nic = {"mac_address": "02:00:00:01:09:01", leaf: value}
            body |= {"interfaces": [], path[0]: [nic]}
            return body
    elif name in {"netbox", "nautobot"}:
        body["name"] = host
    else:
        body["hostname"] = host
        value = f"odd={value}" if field == "labels" else value
    inner = body
    for step in path[:-1]:
        inner = inner.setdefault(step, {})
    inner[path[-1]] = value
    return body


def imported(region: Any, name: str, *bodies: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the notes of an import; raises its problems."""
    if name == "eks-a-csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, list(bodies[0]))
        writer.writeheader()
        writer.writerows(bodies)
        text = out.getvalue()
    else:
        text = json.dumps(bodies)
    choices = Choices(fixed=FIXED)
    return import_hosts(region, "a", "the.file", text, SOURCES[SourceFormat(name)], choices, prune=False).notes


def outcome(region: Any, name: str, body: Mapping[str, Any]) -> str:
    """Return the notes or problems of an import."""
    try:
        return "\n".join(imported(region, name, body))
    except SpecError as error:
        return str(error)


@pytest.mark.parametrize(("name", "field"), ROWS, ids=[f"{name} {field}" for name, field in ROWS])
def test_a_field_is_treated_as_the_table_says(region: Any, name: str, field: str) -> None:
    row: Treatment = treatments(name)[field]
    named = {
        f"{field}: {row.refuse} (got 'odd'); {row.remedy}": bool(row.refuse),
        f"{field} of 1 row not used: {row.report}": bool(row.report),
    }

    odd = outcome(region, name, with_value(name, field, "odd", "a09-u01"))
    same = [outcome(region, name, with_value(name, field, value, "a09-u01")) for value in row.unless]

    assert {text: text in odd for text in named} == named
    assert named[next(iter(named))] or "problem" not in odd
    assert [text for text in same if field in text] == []


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, field in ROWS if treatments(name)[field].refuse])
def test_a_known_host_keeps_its_settings_and_the_field_is_reported(region: Any, name: str, field: str) -> None:
    notes = imported(region, name, with_value(name, field, "odd", "a01-u01"))

    assert f"{field} of 1 row not used: hosts that are already in the inventory keep their settings" in notes


def test_rows_of_several_sites_are_refused(refused: Any) -> None:
    text = "name,site\na01-u01,desk\na01-u02,other\n"

    assert refused("netbox", text) == (
        "  the.file:3  site: other rows have 'desk', and devices of several sites can have the same location and rack"
        " (got 'other'); select one site with --only site=SITE"
    )


def test_a_row_of_the_table_has_one_treatment() -> None:
    for name, field in ROWS:
        row = treatments(name)[field]
        assert [bool(text) for text in (row.refuse, row.single, row.report, row.ignore)].count(True) == 1
        assert bool(row.remedy) == bool(row.refuse or row.single)
        assert not (row.unless and row.ignore)


def test_every_field_of_a_format_is_covered_and_no_row_is_stale() -> None:
    for name, lists in FIELDS.items():
        fields = {_column(field) if kind == "table" else field for kind, names in lists.items() for field in names}
        fields = {field for field in fields if not is_credential(field)} - {"custom_fields"}
        known = {*used(name), *treatments(name)}
        assert [field for field in fields if covering(field, known) is None] == []
        stale = [row for row in treatments(name) if row not in DERIVED and row.split(".")[0] not in DERIVED]
        assert [row for row in stale if not any(covering(field, {row}) for field in fields)] == []


def leaves(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of all fields below ``schema``."""
    for key, value in (schema.get("properties") or {}).items():
        below = f"{path}.{key}" if path else key
        inner = value.get("items", value)
        yield from leaves(inner, below) if inner.get("properties") else [below]


def test_every_field_of_the_published_definition_is_covered_and_no_row_is_stale() -> None:
    definition = CrdFolder().definition("metal3.io", "BareMetalHost")
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    table = treatments("bare-metal-hosts")
    known = {*used("bare-metal-hosts"), *table}
    fields = [field.replace("status.hardware.", "hardware.") for field in leaves(schema)]

    assert [field for field in fields if covering(field, known) is None] == []
    stale = [row for row in table if row.split(".")[0] not in {"metadata", "labels", "annotations"}]
    newer = {"spec.networkInterfaces"}  # Of releases after 0.13
    assert [row for row in stale if row not in newer and not any(covering(field, {row}) for field in fields)] == []


def test_a_field_that_the_format_does_not_have_is_reported(region: Any) -> None:
    unknown = {"netbox": "odd", "nautobot": "odd", "eks-a-csv": "odd", "nico": "odd", "bare-metal-hosts": "spec.odd"}

    for name, field in unknown.items():
        notes = imported(region, name, with_value(name, field, "x", "a09-u01"))
        assert (
            f"{field} of 1 row not used: not fields of this format; if a column needs the value, use --map KEY=COLUMN"
            in notes
        )


def test_a_column_without_a_name_is_reported_by_its_number(read: Any) -> None:
    notes = read("eks-a-csv", "hostname,,\na01-u01,,x\n").notes

    assert notes == (
        "column 3 of 1 row not used: not fields of this format; if a column needs the value, use --map KEY=COLUMN",
    )


def test_a_value_that_the_user_selects_is_accepted(read: Any) -> None:
    text = "name,status,custom\na01-u01,In production,x\na01-u02,Planned,x\n"

    done = read("netbox", text, only={"status": "In production", "custom": "x"})

    assert (done.unchanged, done.notes) == (1, ("1 row excluded by --only: not read",))
