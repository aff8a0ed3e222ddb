"""Values that regions must not share, reported with the file and line of both."""

from __future__ import annotations

from typing import Any

import pytest

from components.rules.checks import check_regions
from tests.support.checks.two_regions import REAL, expected, reports

BACKBONE = "  vni: 10000-19999\n  backbone: wan-1\n"
APART = (
    ("  vni: 10000-19999\n", "  vni: 20000-29999\n  backbone: wan-1\n"),
    ("asn: 4200000000-4200009999", "asn: 4200010000-4200019999"),
    ("management: 10.0.0.0/16", "management: 10.128.0.0/16"),
    ("bmc: 10.1.0.0/16", "bmc: 10.129.0.0/16"),
    ("storage: 10.2.0.0/17", "storage: 10.130.0.0/17"),
    ("control_plane_vips: 10.3.0.0/24", "control_plane_vips: 10.131.0.0/24"),
    ("dpu_loopbacks: 10.4.0.0/22", "dpu_loopbacks: 10.132.0.0/22"),
    ("ovn: 10.4.4.0/22", "ovn: 10.132.4.0/22"),
    ("tenants: 10.64.0.0/10", "tenants: 10.192.0.0/10"),
    ("203.0.113.0/24", "198.51.100.0/24"),
)
"""Edits that make the networks and numbers of a region on the backbone unique."""


def test_regions_that_nothing_connects_may_repeat_networks_and_numbers(both: Any) -> None:
    assert reports(both()) == {}
    assert reports(both(("  vni: 10000-19999\n", BACKBONE))) == {}


def test_shared_numbers_on_one_backbone_are_reported_at_the_later_region_with_a_free_range(
    both: Any, laptop: Any
) -> None:
    environments = both(
        ("  vni: 10000-19999\n", "  vni: 15000-15999\n  backbone: wan-1\n"),
        ("asn: 4200000000-4200009999", "asn: 4200009999-4200020000"),
        first=(("  vni: 10000-19999\n", BACKBONE),),
    )

    numbers = [line for line in reports(environments)["palmtop"].splitlines() if "ranges of regions" in line]
    assert numbers == [
        expected(
            laptop,
            "  region.yaml:LINE  networks.vni: 15000-15999 overlaps laptop (10000-19999,"
            " ../laptop/region.yaml:<networks.vni>) on the shared backbone 'wan-1'; VNI ranges of regions that share a"
            " backbone must be disjoint; use 20000-20999",
        ),
        expected(
            laptop,
            "  region.yaml:LINE  networks.asn: 4200009999-4200020000 overlaps laptop (4200000000-4200009999,"
            " ../laptop/region.yaml:<networks.asn>) on the shared backbone 'wan-1'; ASN ranges of regions that share a"
            " backbone must be disjoint; use 4200020001-4200030002",
        ),
    ]


def _borders(mine: str, theirs: str, *, backbone: bool = True) -> tuple[Any, Any]:
    """Return edits that add an edge router to each of two regions, with disjoint ranges of numbers."""
    common = "  backbone: wan-1\n" if backbone else ""
    edits = (
        ("  vni: 10000-19999\n", f"  vni: 20000-29999\n{common}  border: {mine}\n"),
        ("asn: 4200000000-4200009999", "asn: 4200010000-4200019999"),
    )
    return edits, (("  vni: 10000-19999\n", f"  vni: 10000-19999\n{common}  border: {theirs}\n"),)


ONE, TWO = "{asn: 64496, services: 100, internet: 200}", "{asn: 64496, services: 200, internet: 300}"
OF_A_VPC = "{asn: 4200010001, services: 1, internet: 2}"


@pytest.mark.parametrize("theirs", [ONE, OF_A_VPC])
def test_borders_of_regions_that_nothing_connects_may_repeat_route_targets(both: Any, theirs: str) -> None:
    edits, first = _borders(ONE, theirs, backbone=False)

    assert reports(both(*edits, first=first)) == {}


@pytest.mark.parametrize(
    ("mine", "theirs", "report"),
    [
        (
            TWO,
            ONE,
            (
                "  region.yaml:LINE  networks.border.services: 64496:200 is also networks.border.internet of laptop"
                " (../laptop/region.yaml:<networks.border>) on the shared backbone 'wan-1', so VPCs would get routes of"
                " the other network edge; pick another asn or number"
            ),
        ),
        (
            ONE,
            OF_A_VPC,
            (
                "  region.yaml:LINE  networks.border.asn: 4200010001 is in networks.asn of palmtop"
                " (4200010000-4200019999, ../palmtop/region.yaml:<networks.asn>) on the shared backbone 'wan-1', so a"
                " VPC there could have a route target of this network edge; pick another outside it"
            ),
        ),
        (ONE, "{asn: 64497, services: 100, internet: 200}", None),
    ],
)
def test_a_border_on_a_backbone_has_no_route_target_of_another_regions_border_or_vpcs(
    both: Any, laptop: Any, mine: str, theirs: str, report: str | None
) -> None:
    edits, first = _borders(mine, theirs)

    lines = [line for text in reports(both(*edits, first=first)).values() for line in text.splitlines()]

    assert [line for line in lines if "border" in line] == ([] if report is None else [expected(laptop, report)])


def test_networks_behind_edge_routers_overlap_no_other_region_and_may_be_shared(both: Any, laptop: Any) -> None:
    edits, first = _borders("{networks: [172.20.0.0/24]}", "{networks: [10.65.0.0/24, 172.20.0.0/24]}")
    apart = (("tenants: 10.64.0.0/10", "tenants: 10.192.0.0/10"),)

    lines = [line for text in reports(both(*edits, first=(*first, *apart))).values() for line in text.splitlines()]

    assert [line for line in lines if "border" in line] == [
        expected(
            laptop,
            "  region.yaml:LINE  networks.border.networks[0]: 10.65.0.0/24 overlaps networks.tenants of palmtop"
            " (10.64.0.0/10, ../palmtop/region.yaml:<networks.tenants>) on the shared backbone 'wan-1', and every VPC"
            " of laptop would reach it; remove it, or write networks outside all regions",
        )
    ]


def test_networks_on_one_backbone_are_disjoint(both: Any) -> None:
    assert reports(both(*APART, first=(("  vni: 10000-19999\n", BACKBONE),))) == {}


def test_a_network_inside_another_regions_is_reported_with_both_names(both: Any, laptop: Any) -> None:
    inside = [(old, new.replace("10.129.0.0/16", "10.64.8.0/24")) for old, new in APART]
    environments = both(*inside, first=(("  vni: 10000-19999\n", BACKBONE),))

    assert reports(environments) == {
        "palmtop": expected(
            laptop,
            "environments/palmtop: 1 problem\n"
            "  region.yaml:LINE  networks.bmc: 10.64.8.0/24 overlaps networks.tenants of laptop (10.64.0.0/10,"
            " ../laptop/region.yaml:<networks.tenants>) on the shared backbone 'wan-1'; networks of regions that share"
            " a backbone must be disjoint, move one",
        )
    }


OWNED = ("stage: rehearsal", 'context: east\nstate: {backend: "s3://state", secrets_provider: x}\nstage: rehearsal')


def test_a_management_cluster_and_a_state_belong_to_one_environment(both: Any, laptop: Any) -> None:
    assert reports(both(OWNED, first=(OWNED,))) == {
        "palmtop": expected(
            laptop,
            "environments/palmtop: 2 problems\n  region.yaml:LINE  context: 'east' is also used by laptop"
            " (../laptop/region.yaml:<context>), but environments must not share it; write another\n  region.yaml:LINE"
            "  state.backend: 's3://state' is also used by laptop (../laptop/region.yaml:<state.backend>), but"
            " environments must not share it; write another",
        )
    }


def test_two_environments_with_a_management_cluster_and_a_state_each(both: Any) -> None:
    other = (OWNED[0], OWNED[1].replace("east", "west").replace("s3://state", "s3://other"))
    assert reports(both(other, first=(OWNED,))) == {}


@pytest.mark.parametrize("zone", ["laptop.cloud.example", "east.laptop.cloud.example", "cloud.example"])
def test_zones_of_names_do_not_lie_in_one_another(both: Any, laptop: Any, zone: str) -> None:
    other = ("zone: laptop.cloud.example", f"zone: {zone}")
    found = [one for one in check_regions(both(REAL, other, first=(REAL,)))["palmtop"] if one.rule == "regions.zones"]

    assert [f"{problem.place}  {problem.path}: {problem.text}" for problem in found] == [
        expected(
            laptop,
            f"region.yaml:LINE  dns.zone: '{zone}' and the zone of laptop (laptop.cloud.example,"
            " ../laptop/region.yaml:<dns.zone>) are nested, so clusters of one would have names in the other; pick"
            " another zone",
        )
    ]


@pytest.mark.parametrize("zone", ["palmtop.cloud.example", "west-laptop.cloud.example"])
def test_separate_zones_do_not_overlap(both: Any, zone: str) -> None:
    found = check_regions(both(REAL, ("zone: laptop.cloud.example", f"zone: {zone}"), first=(REAL,)))["palmtop"]

    assert "regions.zones" not in {problem.rule for problem in found}
