"""Machines, ports and buckets that must be unique across regions, reported with the file and line of both."""

from __future__ import annotations

from typing import Any

import pytest

from components.rules.checks import check_neighbours, check_regions
from tests.support.checks.corpus import add_column
from tests.support.checks.two_regions import REAL, expected, reports


def test_a_machine_is_in_one_region_unless_it_is_simulated(both: Any, laptop: Any) -> None:
    found = check_regions(both(REAL, ("zone: laptop", "zone: palmtop"), first=(REAL,)))["palmtop"]

    assert len(found) == 3 * 30
    assert [f"{problem.place}  {problem.path}: {problem.text}" for problem in found[:3]] == [
        expected(
            laptop,
            f"inventory/hall-a.csv:<a01-u01>  {column}: '{value}' is also in laptop"
            " (../laptop/inventory/hall-a.csv:<a01-u01>), but a machine is in one region; remove it from the other",
        )
        for column, value in (("boot_mac", "02:00:00:01:01:01"), ("dpu_serial", "MT26A0101"), ("serial", "G26A0101"))
    ]
    assert {problem.rule for problem in found} == {"regions.hosts"}


def _guids(first: str, last: str) -> tuple[str, str]:
    fabric = f'{{name: north, kind: infiniband, pkeys: 0x10-0x20, guids: "0x{first}-0x{last}", ufm_secret: ufm'
    return "control_planes:\n", f"fabrics:\n  - {fabric}, max_hosts: 100}}\ncontrol_planes:\n"


@pytest.mark.parametrize(
    ("first", "last", "remedy"),
    [
        ("0200000000000000", "020000000000ffff", "use 0x0200000000010000-0x0200000000010fff"),
        ("0200000000000000", "ffffffffffffffff", "move one"),
    ],
)
def test_a_guid_is_allocated_in_one_region_unless_it_is_simulated(
    both: Any, laptop: Any, first: str, last: str, remedy: str
) -> None:
    mine, theirs = _guids("0200000000008000", "0200000000008fff"), _guids(first, last)
    real = check_regions(both(REAL, mine, first=(REAL, theirs)))["palmtop"]

    assert [f"{one.place}  {one.path}: {one.text}" for one in real if one.rule == "regions.guid-ranges"] == [
        expected(
            laptop,
            "region.yaml:LINE  fabrics[0].guids: 0x0200000000008000-0x0200000000008fff overlaps north of laptop"
            f" (0x{first}-0x{last}, ../laptop/region.yaml:<fabrics.north.guids>), but a GUID identifies one port"
            f" worldwide; {remedy}",
        )
    ]


def test_simulated_ports_may_have_guids_in_common(both: Any) -> None:
    guids = _guids("0200000000000000", "020000000000ffff")

    assert check_regions(both(guids, first=(guids,))) == {}


def test_an_infiniband_port_is_in_one_region_in_joint_and_separate_checks(both: Any, laptop: Any) -> None:
    add_column(laptop, "port_guids", {"a01-u02": " ".join(f"0x946dae03000001{port:02x}" for port in range(8))})
    palmtop, other = both(REAL, first=(REAL,))
    together, alone = check_regions([palmtop, other])["palmtop"], check_neighbours(palmtop, laptop.root)

    for problems in (together, alone):
        found = [f"{one.place}  {one.path}: {one.text}" for one in problems if one.path == "port_guids"]
        assert len(found) == 8
        assert found[7] == expected(
            laptop,
            "inventory/hall-a.csv:<a01-u02>  port_guids: '0x946dae0300000107' is also in laptop"
            " (../laptop/inventory/hall-a.csv:<a01-u02>), but a machine is in one region; remove it from the other",
        )


def test_two_regions_have_no_bucket_of_one_store_in_common(both: Any, laptop: Any) -> None:
    keys = "access: [{cluster: acme-train, namespaces: [default]}]"
    runs = f"buckets:\n  - {{name: runs, store: objects, quota: 1Ti, {keys}}}\n"
    laptop.edit("tenants/acme.yaml", "clusters:\n", f"{runs}clusters:\n")
    store = ("spares:", "object_stores:\n  - {name: objects, endpoint: https://objects.cloud.example}\nspares:")
    same = (store[0], store[1].replace("cloud.example", "cloud.example:443"))

    found = [one for one in check_regions(both(REAL, same, first=(REAL, store)))["palmtop"] if "bucket" in one.rule]

    assert [f"{problem.place}  {problem.path}: {problem.text}" for problem in found] == [
        expected(
            laptop,
            "tenants/acme.yaml:LINE  buckets[0].name: 'acme-runs' at https://objects.cloud.example:443 is also"
            " buckets[0].name of laptop (../laptop/tenants/acme.yaml:<buckets.runs.name>), but regions must not share"
            " buckets; pick another name",
        )
    ]


def test_local_regions_may_share_bucket_names_since_no_store_creates_them(both: Any, laptop: Any) -> None:
    backup = 'backup: {schedule: "0 */6 * * *", endpoint: https://o.example, bucket: etcd, secret: etcd-backup}'
    kept = ("      max_clusters: 20\n", f"      max_clusters: 20\n      {backup}\n")

    assert reports(both(kept, first=(kept,))) == {}
    [found] = [one for one in check_regions(both(REAL, first=(REAL,)))["palmtop"] if "bucket" in one.rule]
    path = "control_planes.data_stores[0].backup.bucket"
    assert (found.place, found.path) == (expected(laptop, f"region.yaml:<{path}>"), path)


def test_settings_of_regions_are_compared_when_one_region_is_checked(both: Any, laptop: Any) -> None:
    backbone = ("networks:\n", "networks:\n  backbone: wan-1\n")
    palmtop, other = both(REAL, backbone, first=(REAL, backbone))
    together, alone = check_regions([palmtop, other])["palmtop"], check_neighbours(palmtop, laptop.root)
    reverse = check_neighbours(other, laptop.root)

    assert alone == together
    assert {"regions.networks", "regions.number-ranges", "regions.zones"} <= {problem.rule for problem in alone}
    assert {problem.rule for problem in reverse} >= {"regions.networks", "regions.number-ranges"}


def test_a_region_file_with_errors_is_not_compared(both: Any, laptop: Any) -> None:
    palmtop, _ = both(REAL, first=(REAL,))
    (laptop.root / "laptop" / "region.yaml").write_text("region: laptop\n")

    assert {problem.rule for problem in check_neighbours(palmtop, laptop.root)} == {"regions.hosts"}
