"""Bare-metal controllers of a region."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.hosts.bare_metal import BareMetalSpec, ControllerSpec, DhcpSpec
from tests.support.checks.spec_errors import error_texts

DHCP = {"network": "10.0.8.0/24", "first": "10.0.8.10", "last": "10.0.8.99"}
NET = {"name": "net", "boot": "network-boot", "max_hosts": 90, "dhcp": DHCP}
MEDIA = {"name": "media", "boot": "virtual-media", "max_hosts": 500}


def test_complete_controllers_are_accepted() -> None:
    metal = BareMetalSpec.model_validate({"controllers": [NET, MEDIA], "free_hosts": "media"})

    assert [one.dhcp.addresses if one.dhcp else None for one in metal.controllers] == [90, None]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"gateway": "10.0.9.1"}, {"gateway": "is not in 10.0.8.0/24 (got '10.0.9.1'); write an address of it"}),
        (
            {"gateway": "10.0.8.50"},
            {"gateway": "is in 10.0.8.10-10.0.8.99, the range for hosts (got '10.0.8.50'); write another address"},
        ),
        ({"first": "10.0.7.10"}, {"first": "is not in 10.0.8.0/24 (got '10.0.7.10'); write an address of it"}),
        ({"last": "10.0.8.9"}, {"last": "is below 10.0.8.10 (got '10.0.8.9'); write a higher address"}),
    ],
)
def test_addresses_for_booting_hosts_are_a_range_of_their_network(
    change: dict[str, Any], expected: dict[str, str]
) -> None:
    assert error_texts(DhcpSpec, {**DHCP, **change}) == expected


@pytest.mark.parametrize(
    ("controller", "expected"),
    [
        (
            {**NET, "dhcp": None},
            {
                "dhcp": "is required for network-boot; write dhcp: {network: 10.64.0.0/16, first: 10.0.0.20,"
                " last: 10.0.0.20}"
            },
        ),
        (
            {**NET, "max_hosts": 91},
            {"dhcp": "has 90 addresses for 91 hosts (got '10.0.8.10-10.0.8.99'); write a wider range"},
        ),
        ({**MEDIA, "dhcp": DHCP}, {"dhcp": "has no effect for virtual-media (got '10.0.8.0/24'); remove it"}),
        (
            {**MEDIA, "max_hosts": 501},
            {"max_hosts": "is above the validated maximum for virtual-media (got 501); write at most 500"},
        ),
    ],
)
def test_the_boot_method_decides_the_required_fields_of_a_controller(
    controller: dict[str, Any], expected: dict[str, str]
) -> None:
    assert error_texts(ControllerSpec, controller) == expected


@pytest.mark.parametrize(
    ("metal", "expected"),
    [
        ({"controllers": [MEDIA]}, {"free_hosts": "is required with controllers; name one of them"}),
        (
            {"controllers": [MEDIA], "free_hosts": "net"},
            {"free_hosts": "is not in controllers (media) (got 'net'); name one of them"},
        ),
        ({"free_hosts": "net"}, {"free_hosts": "has no effect without controllers (got 'net'); remove it"}),
        (
            {"backend": "ironcore-metal", "controllers": [MEDIA], "free_hosts": "media"},
            {
                "controllers": "has no effect for ironcore-metal, whose servers are not namespaced (got 'media');"
                " remove it"
            },
        ),
    ],
)
def test_hosts_that_no_cluster_has_are_on_one_of_the_controllers(
    metal: dict[str, Any], expected: dict[str, str]
) -> None:
    assert error_texts(BareMetalSpec, metal) == expected
