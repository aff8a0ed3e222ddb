"""Manually edited lock files are reported as such with their position, without consequential problems of the data."""

from __future__ import annotations

from typing import Any

import pytest

ALLOCATIONS = "allocations.lock.yaml"


def _reported(laptop: Any) -> list[str]:
    """Return place and path of the report, and its text up to the reason."""
    return [" ".join(line.split()).split(";")[0] for line in laptop.report().splitlines()[1:]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("isolation: dpf-ovn", "isolation: dpf-hbn"),
        ("services: 10.65.0.0/20", "services: 10.65.0.0/21"),
    ],
)
def test_edits_of_a_lock_file_are_no_mistake_of_the_data(laptop: Any, old: str, new: str) -> None:
    laptop.edit(ALLOCATIONS, old, new)

    [line] = _reported(laptop)

    assert line.startswith(laptop.resolved(f"{ALLOCATIONS}:LINE digest: "))


def test_an_edited_number_is_reported_at_its_position_without_range_problems(laptop: Any) -> None:
    laptop.edit(ALLOCATIONS, "vni: 10001, asn: 4200000001", "vni: 31, asn: 32")

    asn, vni, digest = _reported(laptop)

    assert asn == laptop.resolved(
        f"{ALLOCATIONS}:LINE vpcs.globex.asn: 32 is outside networks.asn (4200000000-4200009999,"
        " region.yaml:<networks.asn>)"
    )
    assert vni == laptop.resolved(
        f"{ALLOCATIONS}:LINE vpcs.globex.vni: 31 is outside networks.vni (10000-19999, region.yaml:<networks.vni>)"
    )
    assert digest.startswith(laptop.resolved(f"{ALLOCATIONS}:LINE digest: "))
