"""Addresses of BMCs in foreign files keep their driver and port."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.specs.environment import Environment

URL = "redfish-virtualmedia+https://{}/redfish/v1/Systems/1"


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
def test_an_address_means_what_it_means_in_metal3(read: Any, written: str, address: str) -> None:
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
