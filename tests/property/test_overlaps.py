"""The sweep returns the same overlaps as a comparison of all pairs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from components.lookups.intervals import overlaps

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair))))


@given(INTERVALS)
def test_the_result_contains_exactly_the_overlapping_pairs(bounds: list[tuple[int, int]]) -> None:
    intervals = [(first, last, index) for index, (first, last) in enumerate(bounds)]
    every = {
        (one, other)
        for (first, last, one), (start, end, other) in combinations(intervals, 2)
        if first <= end and start <= last
    }

    found = overlaps(intervals)

    assert set(found) <= every
    assert len(found) == len(set(found))
    assert {index for pair in found for index in pair} == {index for pair in every for index in pair}
    assert found == sorted(found, key=lambda pair: (pair[1], pair[0]))


@given(INTERVALS, st.data())
def test_two_owners_whose_intervals_overlap_stand_in_a_pair(bounds: list[tuple[int, int]], data: st.DataObject) -> None:
    owners = data.draw(st.lists(st.sampled_from("ab"), min_size=len(bounds), max_size=len(bounds)))
    intervals = [
        (first, last, (owner, index)) for index, ((first, last), owner) in enumerate(zip(bounds, owners, strict=True))
    ]
    crossing = any(
        one[0] != other[0] and first <= end and start <= last
        for (first, last, one), (start, end, other) in combinations(intervals, 2)
    )

    assert any(one[0] != other[0] for one, other in overlaps(intervals)) == crossing
