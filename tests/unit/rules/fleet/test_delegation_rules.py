"""The DNS zone of the fleet compared with its regions: complete texts, and the data that is read in its home only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from components.lookups.slices import needs
from components.rules.checks import check, check_fleet
from components.specs.environment import Environment
from components.specs.reading.fleet import load_fleet
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import Problem, SpecError
from tests.support.data.delegations import DNS, OTHERS, OWN, fleet_text, two_regions

LINE = re.compile(r"(?<=yaml):\d+")
FLEET = "the zone of the fleet (cloud.example, ../fleet.yaml:LINE)"


@pytest.fixture
def root(laptop: Any) -> Path:
    """Return the folder of all environments, with two regions whose zones the fleet delegates."""
    two_regions(laptop.root)
    return Path(laptop.root)


def home(root: Path) -> Environment:
    return load_environment("laptop", root)


def text(item: Problem) -> str:
    """Return a problem without line numbers."""
    return LINE.sub(":LINE", f"{item.place} {item.where}{item.text}")


def lines(root: Path) -> list[str]:
    """Return the problems of the home about its zones."""
    return [
        f"{text(item)} ({item.rule})" for item in check(home(root)) if item.rule.startswith(("delegation.", "dns."))
    ]


def fleet_lines(root: Path) -> dict[str, list[str]]:
    found = check_fleet(load_fleet(root), [])
    return {name: [f"{text(item)} ({item.rule})" for item in items] for name, items in found.items()}


def refused(root: Path, name: str) -> list[str]:
    with pytest.raises(SpecError) as error:
        load_environment(name, root)
    return [text(item) for item in error.value.problems]


def test_the_home_alone_has_the_zone_with_the_dns_of_all_regions(root: Path) -> None:
    found = home(root)

    assert found.fleet_dns is not None
    assert {name: dns.zone for name, dns in found.delegated.items()} == {
        "laptop": "laptop.cloud.example",
        "palmtop": "palmtop.cloud.example",
    }
    assert needs(found)["fleet"] == ("foundation",)
    assert lines(root) == []
    assert fleet_lines(root) == {}


def test_other_regions_and_a_fleet_without_a_zone_render_nothing(root: Path) -> None:
    fleet_text(root, dns=DNS.replace("home: laptop", "home: palmtop"))
    assert (home(root).fleet_dns, home(root).delegated) == (None, {})

    fleet_text(root, dns="")
    assert (home(root).fleet_dns, home(root).delegated, "fleet" in needs(home(root))) == (None, {}, False)


def test_retired_regions_and_regions_without_dns_are_not_delegated(root: Path) -> None:
    fleet_text(root, other="{status: retired, jurisdictions: [us]}")
    assert [*home(root).delegated] == ["laptop"]

    fleet_text(root)
    path = root / "palmtop" / "region.yaml"
    path.write_text(re.sub(r"^dns: .*\n", "", path.read_text(), flags=re.MULTILINE))
    assert [*home(root).delegated] == ["laptop"]
    assert lines(root) == []


@pytest.mark.parametrize("text", ["{zone: cloud, home: laptop, server: 192.0.2.53}", '{zone: cloud, "home": "laptop"}'])
def test_an_invalid_file_of_the_fleet_blocks_its_home_alone(root: Path, text: str) -> None:
    fleet_text(root, dns=f"dns: {text}")

    assert next(line.partition(":")[0] for line in refused(root, "laptop")) == "../fleet.yaml"
    (root / "fleet.yaml").write_text((root / "fleet.yaml").read_text().replace("laptop", "palmtop"))
    assert home(root).fleet_dns is None


def test_an_invalid_or_missing_region_blocks_the_home(root: Path) -> None:
    path = root / "palmtop" / "region.yaml"
    path.write_text(path.read_text().replace("zone: palmtop.cloud.example", "zone: palmtop"))
    assert refused(root, "laptop")[0].startswith("../palmtop/region.yaml:LINE dns.zone: ")

    path.unlink()
    assert refused(root, "laptop") == ["../palmtop/region.yaml does not exist; create it"]


def test_a_zone_outside_the_zone_of_the_fleet(root: Path) -> None:
    two_regions(root, zone="palmtop.other.example")

    assert lines(root) == [
        (
            f"../palmtop/region.yaml:LINE dns.zone: 'palmtop.other.example' is not below {FLEET}; write"
            " palmtop.cloud.example (delegation.zones)"
        )
    ]


def test_the_zone_of_the_fleet_is_the_zone_of_no_region(root: Path) -> None:
    two_regions(root, zone="cloud.example")

    assert lines(root)[0] == (
        f"../palmtop/region.yaml:LINE dns.zone: 'cloud.example' is not below {FLEET}; write palmtop.cloud.example"
        " (delegation.zones)"
    )


def test_a_region_without_name_servers(root: Path) -> None:
    two_regions(root, others="[]")

    assert lines(root) == [
        (
            "../palmtop/region.yaml:LINE dns.name_servers: is required, because the zone of the fleet (cloud.example,"
            " ../fleet.yaml:LINE) delegates palmtop.cloud.example to them; write name_servers: [{name:"
            " ns1-palmtop.cloud.example, address: ADDRESS}] (delegation.name-servers)"
        )
    ]


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        (
            "[{name: ns1-palmtop.cloud.example}]",
            (
                "name_servers[0].address: is required, because ns1-palmtop.cloud.example is in the zone of the fleet"
                " (cloud.example); write its address"
            ),
        ),
        (
            "[{name: ns.provider.example, address: 192.0.2.7}]",
            (
                "name_servers[0].address: 192.0.2.7 is never used, because ns.provider.example is not below"
                " cloud.example; remove it"
            ),
        ),
        (
            "[{name: ns1.palmtop.cloud.example, address: 192.0.2.7}]",
            (
                "name_servers[0].name: 'ns1.palmtop.cloud.example' is in the delegated zone palmtop.cloud.example;"
                " write a name beside it, such as ns1-palmtop.cloud.example"
            ),
        ),
        (
            "[{name: ns1.laptop.cloud.example, address: 192.0.2.7}]",
            (
                "name_servers[0].name: 'ns1.laptop.cloud.example' is in the delegated zone laptop.cloud.example; write"
                " a name beside it, such as ns1-palmtop.cloud.example"
            ),
        ),
    ],
)
def test_a_name_server_that_no_resolver_would_find(root: Path, servers: str, problem: str) -> None:
    two_regions(root, others=servers)

    assert lines(root) == [f"../palmtop/region.yaml:LINE dns.{problem} (delegation.name-servers)"]


def test_a_name_server_with_two_addresses(root: Path) -> None:
    two_regions(root, others=OWN.replace("198.18.0.53", "198.18.0.54"))

    assert lines(root) == [
        (
            "../palmtop/region.yaml:LINE dns.name_servers[0].address: 198.18.0.54 of ns1-laptop.cloud.example is"
            " 198.18.0.53 in region.yaml:LINE; write one address, or another name (delegation.name-server-addresses)"
        )
    ]
    two_regions(root, others=OWN)
    assert lines(root) == []


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.64.0.53", "networks.tenants (10.64.0.0/10, region.yaml:LINE), where addresses belong to tenants"),
        ("203.0.113.7", "networks.public (203.0.113.0/24, region.yaml:LINE), where addresses belong to tenants"),
        ("10.1.0.7", "networks.bmc (10.1.0.0/16, region.yaml:LINE), which only hardware controllers reach"),
    ],
)
def test_a_name_server_in_a_network_for_other_use(root: Path, address: str, network: str) -> None:
    fleet_text(root, dns=DNS.replace("192.0.2.53", address))
    two_regions(root, own=OWN.replace("198.18.0.53", address))
    fleet_text(root, dns=DNS.replace("192.0.2.53", address))
    reason = f"{address} is in {network}; pick another address of the server"

    assert lines(root) == [
        f"../fleet.yaml:LINE dns.server: {reason} (delegation.server)",
        f"region.yaml:LINE dns.name_servers[0].address: {reason} (dns.name-server)",
    ]


def test_a_home_without_slices_or_without_dns(root: Path) -> None:
    path = root / "laptop" / "region.yaml"
    text = path.read_text()
    path.write_text(text.replace("stacks: sliced", "stacks: whole"))
    assert lines(root) == [
        (
            "../fleet.yaml:LINE dns.home: 'laptop' is one stack (region.yaml:LINE), but the objects of the fleet have a"
            " stack of their own; write a region with stacks: sliced (delegation.home)"
        )
    ]

    path.write_text(re.sub(r"^dns: .*\n", "", text, flags=re.MULTILINE))
    assert lines(root) == [
        (
            "../fleet.yaml:LINE dns.home: 'laptop' has no dns, with which ExternalDNS is installed; write a region"
            " with dns (delegation.home)"
        )
    ]


def test_a_home_that_is_no_open_region_of_the_fleet(root: Path) -> None:
    fleet_text(root, dns=DNS.replace("home: laptop", "home: laptap"))
    assert fleet_lines(root)["fleet"] == [
        "../fleet.yaml:LINE dns.home: 'laptap' is not in regions; did you mean 'laptop'? (delegation.homes)"
    ]

    fleet_text(root, dns=DNS.replace("home: laptop", "home: moon-1"))
    assert fleet_lines(root)["fleet"] == [
        "../fleet.yaml:LINE dns.home: 'moon-1' is not in regions; write one of laptop, palmtop (delegation.homes)"
    ]

    fleet_text(root, home="{status: retired, jurisdictions: [us]}")
    assert fleet_lines(root)["fleet"] == [
        "../fleet.yaml:LINE dns.home: 'laptop' is retired (../fleet.yaml:LINE); write another region (delegation.homes)"
    ]


def test_a_name_server_that_is_listed_twice(root: Path) -> None:
    two_regions(root, others=f"{OTHERS[:-1]}, {OTHERS[1:]}")

    assert refused(root, "palmtop") == [
        "region.yaml:LINE dns.name_servers[1].name: 'ns.provider.example' is listed twice; remove one"
    ]
