"""BMC addresses in foreign files keep their driver and port; racks are renamed in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.specs.environment import Environment
from jacquard.exchange.exporting import export_hosts
from jacquard.exchange.formats import TARGETS, TargetFormat
from jacquard.exchange.renames import Renames, read_renames

URL = "redfish-virtualmedia+https://{}/redfish/v1/Systems/1"
RACKS = Renames(pairs={"DC1-R*": "a*", "Spare": "a07"})


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("10.1.9.1", "ipmi://10.1.9.1"),
        ("10.1.9.1:6230", "ipmi://10.1.9.1:6230"),
        ("bmc-a09:623", "ipmi://bmc-a09:623"),
        ("ipmi:10.1.9.1", "ipmi://10.1.9.1"),
        ("redfish+http:10.1.9.1/x", "redfish+http://10.1.9.1/x"),
        ("idrac-virtualmedia://10.1.9.1/x", "idrac-virtualmedia://10.1.9.1/x"),
    ],
)
def test_an_address_has_the_meaning_of_metal3(read: Any, written: str, address: str) -> None:
    host = {"kind": "BareMetalHost", "metadata": {"name": "a01-u01"}, "spec": {"bmc": {"address": written}}}

    [change] = read("bare-metal-hosts", json.dumps([host]) + "\n").changed

    assert change.columns["bmc"][1] == address


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("eks-a-csv", "hostname,bmc_ip,bmc_port\na01-u01,10.1.200.1,8443\n"),
        ("netbox", "name,oob_ip,cf_bmc_port\na01-u01,10.1.200.1/16,8443\n"),
        (
            "nico",
            '[{"bmc_ip_address": "10.1.200.1",\n "metadata": {"name": "a01-u01", "labels": {"bmc_port": "8443"}}}]\n',
        ),
    ],
)
def test_the_port_of_a_bmc_is_kept(read: Any, source: str, text: str) -> None:
    assert read(source, text).changed[0].columns["bmc"][1] == URL.format("10.1.200.1:8443")


def test_a_known_host_keeps_its_driver_and_gets_another_port(read: Any, region: Environment) -> None:
    known = region.hosts[0].bmc
    ports = {port: read("eks-a-csv", f"hostname,bmc_ip,bmc_port\na01-u01,10.1.1.1,{port}\n") for port in (443, 8443)}

    assert ports[443].changed == ()
    assert ports[8443].changed[0].columns["bmc"] == (known, known.replace("10.1.1.1", "10.1.1.1:8443"))


def test_the_interfaces_of_a_machine_have_roles(read: Any) -> None:
    nics = [
        {"mac_address": "02:00:00:01:01:77"},
        {"mac_address": "02:00:00:01:01:78", "role": "dpu_bmc", "fixed_ip": "10.1.200.2"},
        {"mac_address": "02:00:00:01:01:79", "role": "host_bmc", "fixed_ip": "10.1.200.1"},
    ]
    text = json.dumps({"expected_machines": [{"metadata": {"name": "a01-u01"}, "interfaces": nics}]}) + "\n"

    [change] = read("nico", text).changed

    new = {column: after for column, (_, after) in change.columns.items()}
    assert new == {"boot_mac": "02:00:00:01:01:77", "dpu_bmc": "10.1.200.2", "bmc": URL.format("10.1.200.1")}


def test_port_guids_in_a_list_are_kept(read: Any) -> None:
    guids = [f"0x946dae0300a1000{port}" for port in range(8)]
    text = json.dumps([{"name": "a01-u01", "custom_fields": {"port_guids": guids}}]) + "\n"

    assert read("netbox", text).changed[0].columns == {"port_guids": ("", " ".join(guids))}


def test_one_of_several_values_can_be_chosen(read: Any) -> None:
    machine = {"metadata": {"name": "a01-u01"}, "fallback_dpu_serial_numbers": ["MT26A0101", "MT26A0191"]}
    maps = {"fallback_dpu_serial_numbers[1]": "dpu_serial"}

    assert read("nico", json.dumps([machine]) + "\n", maps=maps).changed[0].columns == {
        "dpu_serial": ("MT26A0101", "MT26A0191")
    }


def test_racks_have_other_names_in_both_directions(read: Any, region: Environment) -> None:
    text = "name,rack\na01-u01,DC1-R01\na01-u02,DC1-R01\n"
    assert (read("netbox", text, racks=RACKS).unchanged, read("netbox", text, racks=RACKS).changed) == (2, ())

    for name in TargetFormat:
        exported = export_hosts(region, None, TARGETS[name], {}, None, RACKS).text
        again = read(name.value, exported, racks=RACKS, prune=True)
        assert ("DC1-R01" in exported, again.changed, again.removed, again.added) == (True, (), (), ())


def test_a_rule_with_a_star_yields_to_an_exact_one() -> None:
    names = ("DC1-R01", "Spare", "DC1-R", "b01")
    assert [RACKS.rack(name) for name in names] == ["a01", "a07", "DC1-R", "b01"]
    assert [RACKS.name(rack) for rack in ("a01", "a07", "b01")] == ["DC1-R01", "Spare", "b01"]


def test_racks_of_a_file() -> None:
    pairs, problems = read_renames("racks.csv", "name,rack\nA05,a05\nA05,a06\nA07,\n")

    assert pairs == {"A05": "a05"}
    assert [f"{problem.place}  {problem.text}" for problem in problems] == [
        "racks.csv:3  'A05' is also 'a05'; remove one row",
        "racks.csv:4  needs a name and a rack; write the header name,rack",
    ]
