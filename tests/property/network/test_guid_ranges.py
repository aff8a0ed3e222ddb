"""GUIDs of running clusters are stable: a new rack or tenant never takes a number that pods use."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.allocate.allocation import attempt
from components.lookups.numbers import Block, as_block
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from tests.support.data.small_region import changed, nodes, rack, small_region, tenant

NAMES = ("ant", "bee", "cat")
SIZES = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 6), min_size=1)
STEPS = st.lists(st.one_of(st.just("rack"), SIZES), min_size=2, max_size=6)
GUIDS = st.sampled_from((512, 1024, 4096, 0x9000))
"""Sizes of the fabric's range: from one in which clusters are adjacent, to one with room for all."""


def _region(guids: int) -> Environment:
    region = small_region()
    [fabric] = region.region.fabrics
    numbers = changed(fabric.guids, last=fabric.guids.first + guids - 1) if fabric.guids else None
    return changed(region, region=changed(region.region, fabrics=(changed(fabric, guids=numbers),)))


def _ranges(region: Environment) -> dict[str, Block]:
    clusters = region.allocations.clusters
    return {name: as_block(numbers) for name, given in clusters.items() for numbers in given.guids.values()}


def _edited(region: Environment, step: str | dict[str, int], number: int) -> Environment:
    if isinstance(step, str):
        more = tuple(host for name in (f"a{20 + number}", f"b{20 + number}") for host in rack(name))
        return changed(region, hosts=(*region.hosts, *more))
    sizes = {one.tenant: one.clusters[0].pools[0].nodes or 0 for one in region.tenants} | step
    return changed(region, tenants=tuple(tenant(name, nodes(size), fabrics=("ib",)) for name, size in sizes.items()))


@given(GUIDS, STEPS)
def test_no_edit_moves_the_guids_of_a_running_cluster(guids: int, steps: list[str | dict[str, int]]) -> None:
    region = _region(guids)
    for number, step in enumerate(steps):
        after = _edited(region, step, number)
        attempted = attempt(after)
        assert step != "rack" or attempted.problems == []
        if attempted.problems:
            continue  # The allocation is rejected, and the edit reverted.
        after = changed(after, allocations=attempted.numbers, image_pins=attempted.pins)
        running = {cluster_of(key) for key, group in region.allocations.groups.items() if group.nodes}
        found = _ranges(after)
        for name, block in _ranges(region).items():
            if name in running:
                assert found[name].first == block.first
                assert block in found[name]
                assert step != "rack" or found[name] == block
        region = after
