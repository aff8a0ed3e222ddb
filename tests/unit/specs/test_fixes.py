"""Unambiguous fixes: all cases marked in the corpus are fixed, no other data are changed, and lock files never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.reading.fixes import FixedFile, fixed_files
from tests.support.checks.corpus import Case, apply_mistakes, cases, expected_fixes, fixes, title

ACME, HALL, REGION = "tenants/acme.yaml", "inventory/hall-a.csv", "region.yaml"
_CASES = [case for case in cases(Path(__file__).parent, "bad_*.yaml") if "fixes" in case]


def fix(laptop: Any) -> list[FixedFile]:
    """Run ``check --fix``."""
    found = list(fixed_files(laptop.root, laptop.name))
    for item in found:
        item.path.write_text(item.after, encoding="utf-8", newline="")
    return found


@pytest.mark.parametrize("case", _CASES, ids=map(title, _CASES))
def test_marked_cases_of_the_corpus_are_fixed(laptop: Any, case: Case) -> None:
    apply_mistakes(laptop, case)
    marked = expected_fixes(laptop, case)

    assert fixes(fix(laptop)) == marked
    assert laptop.report() == ""


def damage_bytes(laptop: Any, file: str, old: bytes, new: bytes) -> bytes:
    path = laptop.folder / file
    before: bytes = path.read_bytes()
    assert old in before
    path.write_bytes(before.replace(old, new))
    return before


@pytest.mark.parametrize(
    ("file", "old", "new", "lines"),
    [
        (ACME, b"\n", b"\r\n", [f"{ACME}:0  COUNT line ends CRLF -> LF"]),
        (
            ACME,
            b"schema_version: 1",
            b"schema_version:\xc2\xa01",
            [f"{ACME}:<'schema_version:'>  the blank U+00A0 -> a plain space"],
        ),
        (ACME, b"# yaml", b"\xef\xbb\xbf# yaml", [f"{ACME}:1  a byte order mark -> none"]),
        (HALL, b"\n", b"\r\n", [f"{HALL}:0  COUNT line ends CRLF -> LF"]),
        (
            HALL,
            b'"02:00:00:01:01:01"',
            b"02-00-00-01-01-01",
            [f'{HALL}:<a01-u01>  02-00-00-01-01-01 -> "02:00:00:01:01:01"'],
        ),
        (
            HALL,
            b'"02:00:00:01:01:01"',
            b'"0200.0001.0101"',
            [f'{HALL}:<a01-u01>  "0200.0001.0101" -> "02:00:00:01:01:01"'],
        ),
        (HALL, b"\na01,2,", b"\n\na01,2,", [f"{HALL}:<''>  a line without a host -> none"]),
    ],
    ids=["CRLF", "no-break space", "byte order mark", "CRLF in a table", "MAC with dashes", "MAC of a switch", "empty"],
)
def test_a_file_of_another_program_becomes_the_one_it_was(
    laptop: Any, file: str, old: bytes, new: bytes, lines: list[str]
) -> None:
    before = damage_bytes(laptop, file, old, new)
    count = str(before.count(b"\n"))
    expected = [laptop.resolved(line.replace("COUNT", count)) for line in lines]

    assert fixes(fix(laptop)) == expected
    assert (laptop.folder / file).read_bytes() == before


def test_several_problems_of_one_file_are_fixed_together_with_original_line_numbers(laptop: Any) -> None:
    laptop.edit(ACME, "nodes: 10", 'nodes: "10"    # ten')
    laptop.edit(ACME, "workload: training", "workload: on")
    laptop.edit(REGION, "storage: 10.2.0.0/17", "storage: '10.2.0.9/17'  # for NFS")

    expected = (
        f"{REGION}:<networks.storage>  '10.2.0.9/17' -> 10.2.0.0/17",
        f'{ACME}:<clusters.acme-train.pools.train.nodes>  "10" -> 10',
        f'{ACME}:<clusters.acme-train.pools.train.labels>  on -> "on"',
    )
    assert fixes(fix(laptop)) == [laptop.resolved(line) for line in expected]
    assert "  storage: 10.2.0.0/17  # for NFS\n" in (laptop.folder / REGION).read_text(encoding="utf-8")
    assert "nodes: 10    # ten\n" in (laptop.folder / ACME).read_text(encoding="utf-8")


def test_a_lock_file_is_not_fixed(laptop: Any) -> None:
    before = damage_bytes(laptop, "allocations.lock.yaml", b"\n", b"\r\n")

    assert fix(laptop) == []
    assert (laptop.folder / "allocations.lock.yaml").read_bytes() == before.replace(b"\n", b"\r\n")


def test_a_symbolic_link_to_a_fixed_file_is_kept(laptop: Any) -> None:
    path: Path = laptop.folder / ACME
    real = path.rename(laptop.root / "catalog" / "acme.yaml")
    path.symlink_to(real)
    laptop.edit(ACME, "nodes: 10", 'nodes: "10"')

    [item] = fixed_files(laptop.root, laptop.name)

    assert item.path == real.resolve()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nodes: 10", "nodes: 010"),
        ("egress: public", "egress: no"),
        ("version: v1.35.2", "version: 1.30"),
        ("nodes: 10", 'nodes: "0"'),
        ("alerts: oncall@acme.example", "alerts: !!str 12"),
        ("nodes: 10", "node: 10"),
        ("vpcs:", "vpcs: &all"),
    ],
)
def test_ambiguous_problems_are_not_fixed(laptop: Any, old: str, new: str) -> None:
    laptop.edit(ACME, old, new)

    assert list(fixed_files(laptop.root, laptop.name)) == []
