"""Parsed addresses of BMCs."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.specs.hosts.bmc import parse_bmc


@pytest.mark.parametrize(
    ("text", "host", "transport", "port"),
    [
        ("redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/1", "10.1.1.1", "https", 443),
        ("redfish+http://10.1.1.1:8000/redfish/v1/Systems/1", "10.1.1.1", "http", 8000),
        ("idrac-virtualmedia://bmc-a01/redfish/v1/Systems/1", "bmc-a01", "https", 443),
        ("redfish+http://10.1.1.1/", "10.1.1.1", "http", 80),
        ("redfish://[fd00::1]:8443/redfish", "fd00::1", "https", 8443),
        ("redfish://root:pass@word@10.1.1.1/redfish", "10.1.1.1", "https", 443),
        ("10.1.1.1", "10.1.1.1", "https", 443),
    ],
)
def test_an_address_contains_the_location_of_the_bmc(text: str, host: str, transport: str, port: int) -> None:
    found = parse_bmc(text)

    assert (found.host, found.transport, found.port) == (host, transport, port)


def test_an_address_defines_the_capabilities_of_its_driver() -> None:
    drivers = ["ipmi", "redfish", "redfish-virtualmedia+https", "idrac-virtualmedia", "ilo5-redfish"]
    found = {driver: parse_bmc(f"{driver}://10.1.1.1/x") for driver in drivers}

    assert [driver for driver in drivers if found[driver].is_ipmi] == ["ipmi"]
    assert [driver for driver in drivers if found[driver].attaches_media] == drivers[2:4]


def test_a_name_is_no_address() -> None:
    assert parse_bmc("redfish://10.1.1.1:8000/x").address == ipaddress.IPv4Address("10.1.1.1")
    assert parse_bmc("redfish://bmc-a01/x").address is None


def test_one_machine_is_the_same_by_every_driver_port_and_path() -> None:
    assert parse_bmc("redfish://10.1.1.1/Systems/1/").machine == parse_bmc("ipmi://10.1.1.1:623").machine


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("redfish+https://root:secret@10.1.1.1/x", "redfish+https://10.1.1.1/x"),
        ("redfish://root:a://b@c@10.1.1.1/x", "redfish://10.1.1.1/x"),
        ("root:secret@10.1.1.1", "10.1.1.1"),
    ],
)
def test_credentials_are_detected_and_removed(text: str, without: str) -> None:
    assert parse_bmc(text).has_login
    assert parse_bmc(text).without_login == without
    assert not parse_bmc(without).has_login


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="a1:/@[]+.-\n ", max_size=30))
def test_any_text_is_parsed(text: str) -> None:
    found = parse_bmc(text)

    assert found.host in text
    assert "@" not in found.without_login[len(found.scheme) :]
