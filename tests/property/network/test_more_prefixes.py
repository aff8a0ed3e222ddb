"""A prefix added to any VPC moves no existing allocation, in running and in new regions."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.specs.environment import Environment
from components.specs.network.tenant_network import PrefixKind
from components.specs.struct import replace
from tests.support.network.drawn_regions import TENANTS, Wish, region


def _without(environment: Environment, vpc: str, name: str) -> tuple[dict[str, Any], IPv4Network]:
    """Return the allocations of a region without one prefix of ``vpc``, and the prefix."""
    numbers = environment.allocations.model_dump(exclude={"digest", "beside"})
    return numbers, IPv4Network(numbers["vpcs"][vpc]["more_prefixes"].pop(name)["prefix"])


@settings(max_examples=300)
@given(TENANTS, st.data(), st.booleans())
def test_a_prefix_more_moves_no_number(wishes: dict[str, Wish], data: st.DataObject, running: bool) -> None:  # noqa: FBT001
    name, kind = data.draw(st.sampled_from([*wishes])), data.draw(st.sampled_from(list(PrefixKind)))
    before = region(wishes, None)
    grown = wishes | {name: replace(wishes[name], more=(*wishes[name].more, kind))}
    if not running:
        # The others get theirs after or before it: in a new region, prefixes are allocated in the order of tenants.
        wishes = {other: replace(wish, more=(), second=False) for other, wish in wishes.items() if other != name} | {
            name: wishes[name]
        }
        before, grown = region(wishes, None), wishes | {name: grown[name]}
    after = region(grown, None, before if running else None)

    rest, added = _without(after, name, f"more-{len(wishes[name].more)}")
    assert rest == before.allocations.model_dump(exclude={"digest", "beside"})
    every = [prefix for vpc in before.allocations.vpcs.values() for prefix in vpc.prefixes.values()]
    assert not any(added.overlaps(prefix) for prefix in every)
    assert after.allocations.vpcs[name].of_kind(kind)[-1] == added
