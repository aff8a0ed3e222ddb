"""Entries of ``fleet.yaml`` compared with the regions; error texts of invalid files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.rules.checks import check_fleet, check_growth, valid_fleet
from components.specs.reading.fleet import NAME, load_fleet
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError

REAL = ("stage: rehearsal", "stage: development")
OPEN = "{status: open, jurisdictions: [us]}"
UNLISTED = "../fleet.yaml:2 regions: has no palmtop; add palmtop: {status: building} (fleet.unlisted-regions)"
HEAD = "schema_version: 1\nregions:\n"


def write(root: Path, text: str) -> None:
    (root / "fleet.yaml").write_text(text, encoding="utf-8")


def lines(both: Any, root: Path, *edits: tuple[str, str]) -> dict[str, list[str]]:
    environments = both(*edits)
    found = check_fleet(load_fleet(root), environments)
    return {
        name: [f"{item.place} {item.where}{item.text} ({item.rule})" for item in items] for name, items in found.items()
    }


def test_without_the_file_there_is_no_fleet(both: Any, laptop: Any) -> None:
    assert lines(both, laptop.root, REAL) == {}
    assert load_fleet(laptop.root).regions == {}


def test_listed_regions_are_accepted_and_local_regions_may_be_omitted(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  palmtop: {OPEN}\n")

    assert lines(both, laptop.root, REAL) == {}


def test_a_region_without_an_entry(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  laptop: {OPEN}\n")

    assert lines(both, laptop.root, REAL) == {"palmtop": [UNLISTED]}


def test_a_region_that_is_built_needs_no_jurisdictions_yet(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  laptop: {OPEN}\n  palmtop: {{status: building}}\n")

    assert lines(both, laptop.root, REAL) == {}


def test_an_entry_without_a_region(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  laptop: {OPEN}\n  palmtap: {OPEN}\n  us-west-9: {OPEN}\n")

    assert lines(both, laptop.root) == {
        NAME: [
            (
                "../fleet.yaml:4 regions.palmtap: there is no folder environments/palmtap with a region.yaml; did you"
                " mean 'palmtop'? (fleet.missing-regions)"
            ),
            (
                "../fleet.yaml:5 regions.us-west-9: there is no folder environments/us-west-9 with a region.yaml;"
                " remove it, or create the region with jacquard new (fleet.missing-regions)"
            ),
        ]
    }


def test_a_misspelt_region_is_reported_once(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  laptop: {OPEN}\n  palmtap: {OPEN}\n")

    assert lines(both, laptop.root, REAL) == {
        NAME: [
            (
                "../fleet.yaml:4 regions.palmtap: there is no folder environments/palmtap with a region.yaml; did you"
                " mean 'palmtop'? (fleet.missing-regions)"
            )
        ]
    }


def test_a_retired_region_has_neither_tenants_nor_hosts(both: Any, laptop: Any) -> None:
    write(laptop.root, f"{HEAD}  laptop: {OPEN}\n  palmtop: {{status: retired, jurisdictions: [us]}}\n")
    [laptop_now] = [item for item in both() if item.name == "laptop"]
    hosts = [host.host for host in laptop_now.hosts]

    assert lines(both, laptop.root) == {
        "palmtop": [
            (
                "../fleet.yaml:4 regions.palmtop.status: is retired, but palmtop has tenants acme, globex and hosts"
                f" {', '.join(hosts[:3])} and {len(hosts) - 3} more; remove them, or write draining"
                " (fleet.retired-regions)"
            )
        ]
    }
    empty = laptop_now.model_copy(update={"name": "palmtop", "tenants": (), "hosts": ()})
    assert check_fleet(load_fleet(laptop.root), [empty]) == {}


@pytest.mark.parametrize("status", ["building", "draining", "retired"])
def test_a_region_closed_for_orders_does_not_grow(laptop: Any, status: str) -> None:
    write(laptop.root, f"{HEAD}  laptop: {{status: {status}, jurisdictions: [us]}}\n")
    base = laptop.load()
    fewer = base.model_copy(update={"tenants": base.tenants[:1]})
    laptop.edit("tenants/acme.yaml", "nodes: 10", "nodes: 11")
    laptop.edit("tenants/acme.yaml", "name: infer", "name: serve")

    found = check_growth(valid_fleet(laptop.root), fewer, laptop.load())

    closed = f"laptop is {status} (../fleet.yaml:3)"
    assert [f"{item.file} {item.path}: {item.text}" for item in found] == [
        (
            f"tenants/acme.yaml clusters[0].pools[1]: grows from 10 to 11 nodes, but {closed} and takes no more nodes;"
            " choose another region, or write open"
        ),
        (
            f"tenants/acme.yaml clusters[0].pools[2]: grows by 4 nodes, but {closed} and takes no more nodes; choose"
            " another region, or write open"
        ),
        (
            f"tenants/globex.yaml tenant: 'globex' is new, but {closed} and takes no tenants; choose another region, or"
            " write open"
        ),
    ]
    assert {item.rule for item in found} == {"fleet.grown-regions"}
    assert check_growth(valid_fleet(laptop.root), base, fewer) == []


@pytest.mark.parametrize("text", [f"{HEAD}  laptop: {OPEN}\n", f"{HEAD}  laptop: {{status: closed}}\n", None])
def test_an_open_region_may_grow_and_a_wrong_or_missing_file_is_reported_elsewhere(laptop: Any, text: str) -> None:
    if text:
        write(laptop.root, text)
    base = laptop.load()

    assert check_growth(valid_fleet(laptop.root), base.model_copy(update={"tenants": ()}), base) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{status: close, jurisdictions: [us]}", "3 regions.laptop.status: must be one of building, open"),
        ("{jurisdictions: [us]}", "3 regions.laptop.status: is required"),
        (
            "{status: open}",
            (
                "3 regions.laptop.jurisdictions: is required, because the region is open; write jurisdictions: [us], or"
                " status: building"
            ),
        ),
        ("{status: draining}", "3 regions.laptop.jurisdictions: is required, because the region is draining; write "),
        ("{status: open, jurisdictions: []}", "3 regions.laptop.jurisdictions: is required, because the region is "),
        ("{status: open, jurisdictions: us}", "3 regions.laptop.jurisdictions: must be a list"),
        ("{status: open, jurisdictions: [us, us]}", "3 regions.laptop.jurisdictions[1]: 'us' is listed twice; remove"),
        ("{status: open, jurisdictions: [US]}", "3 regions.laptop.jurisdictions[0]: "),
        ("{status: open, jurisdictions: [no]}", "3 regions.laptop.jurisdictions[0]: "),
        (
            "{status: open, jurisdictions: [us], capabilities: [infiniband]}",
            "3 regions.laptop.capabilities[0]: 'infiniband' is derived from the data of the region; remove it",
        ),
        (
            "{status: open, jurisdictions: [us], capabilities: [storage-vast]}",
            "3 regions.laptop.capabilities[0]: 'storage-vast' is derived from the data of the region; remove it",
        ),
        (
            "{status: open, jurisdictions: [us], capabilities: [soc-2, soc-2]}",
            "3 regions.laptop.capabilities[1]: 'soc-2' is listed twice; remove one",
        ),
        ("{status: open, jurisdictions: [us], latency: near}", "3 regions.laptop.latency: is not a key here"),
        ("{status: open, jurisdictions: [us], latency_group: 3}", "3 regions.laptop.latency_group: must be "),
        ("open", "3 regions.laptop: must be a mapping"),
    ],
)  # fmt: skip
def test_a_wrong_entry_has_one_problem_with_its_line(tmp_path: Path, entry: str, problem: str) -> None:
    write(tmp_path, f"{HEAD}  laptop: {entry}\n")

    with pytest.raises(SpecError) as error:
        load_fleet(tmp_path)

    headline, line = str(error.value).splitlines()
    assert headline == "environments/fleet: 1 problem"
    assert line.strip().replace("  ", " ").startswith(f"../fleet.yaml:{problem}"), line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "../fleet.yaml:1  is empty; write schema_version: 1, or remove the file"),
        ("regions: {}\n", "../fleet.yaml:1  schema_version: is required"),
        (
            "schema_version: 2\nregions: {}\n",
            "../fleet.yaml:1  schema_version: is 2, but this jacquard reads 1; update",
        ),
        (f"{HEAD}  laptop: {OPEN}\n  laptop: {OPEN}\n", "../fleet.yaml:4  regions.laptop: "),
        ("[]\n", "../fleet.yaml  must be a mapping of keys"),
        (f"{HEAD}\tlaptop: {OPEN}\n", "../fleet.yaml:3  has a tab in column 1; write spaces"),
    ],
)
def test_a_wrong_file_has_one_problem(tmp_path: Path, text: str, problem: str) -> None:
    write(tmp_path, text)

    with pytest.raises(SpecError) as error:
        load_fleet(tmp_path)

    assert str(error.value).splitlines()[1].strip().startswith(problem)


def test_regions_are_loaded_without_the_fleet(laptop: Any) -> None:
    write(laptop.root, "wrong")

    assert load_environment("laptop", laptop.root).name == "laptop"
