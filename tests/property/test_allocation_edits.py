"""Invariants of allocation over arbitrary edits: others keep their numbers, no duplicates, quarantine by owner."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from components.allocate.allocation import Allocation, attempt
from components.allocate.ledger import freed_numbers, numbers_of
from components.allocate.releases import release_quarantine
from components.lookups.number_kinds import Kind
from components.lookups.numbers import Block, as_block
from components.rules.region import lock_pins, locks
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.locks import AllocationsLock
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.lock_text import sealed
from components.specs.region.tenant import TenantSpec
from tests.support.data.small_region import HOSTS_PER_RACK, changed, nodes, rack, racks, small_region, tenant

TENANTS = ("ant", "bee", "t10", "t9")
BROKEN = OutOfServiceSpec(state=HostState.TRIAGE, since=date(2026, 1, 1), reason="fans")
sizes, counts = st.integers(1, 4), st.integers(1, 3)
names = st.sampled_from(TENANTS)
Given = tuple[str, Kind, Block]
"""A number with its owner and sort."""


def _with_pools(owner: TenantSpec, *pools: NodePoolSpec) -> TenantSpec:
    return changed(owner, clusters=(changed(owner.clusters[0], pools=pools),))


class Edits(RuleBasedStateMachine):
    """Edits of a platform team. An edit that cannot be allocated is reverted."""

    def __init__(self) -> None:
        super().__init__()
        self.now = small_region()
        self.gone: dict[str, TenantSpec] = {}
        self.given = _given(self.now.allocations)
        self.last: tuple[Environment, Allocation] | None = None

    @property
    def present(self) -> dict[str, TenantSpec]:
        return {owner.tenant: owner for owner in self.now.tenants}

    @rule(name=names, count=sizes, pods=st.integers(18, 22), fabric=st.booleans())
    def add_or_change_tenant(self, name: str, count: int, pods: int, *, fabric: bool) -> None:
        vpcs = self.present[name].vpcs if name in self.present else None
        fabrics = ("ib",) if fabric else ()
        edited = tenant(name, nodes(count), pods=vpcs[0].pods if vpcs else pods, fabrics=fabrics)
        self._edit(name, tenants=tuple((self.present | {name: edited}).values()))

    @precondition(lambda self: self.now.tenants)
    @rule(data=st.data())
    def remove_tenant(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([*self.present]))
        self.gone[name] = self.present[name]
        self._edit(name, tenants=tuple(owner for key, owner in self.present.items() if key != name))

    @precondition(lambda self: self.gone.keys() - self.present.keys())
    @rule(data=st.data())
    def return_as_before(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.gone.keys() - self.present.keys())))
        had = _held(_quarantined(self.now.allocations), name)
        self._edit(name, tenants=(*self.now.tenants, self.gone[name]))
        if name in self.present:
            for kind, blocks in _held(_numbers(self.now.allocations), name).items():
                sizes_had = {block.size for block in had[kind]}
                assert all(block in had[kind] for block in blocks if block.size in sizes_had)

    @precondition(lambda self: self.now.tenants)
    @rule(name=names, count=counts, spares=st.sampled_from([0, 1, "30%"]))
    def add_or_change_racks(self, name: str, count: int, spares: int | str) -> None:
        if name in self.present:
            pools = (self.present[name].clusters[0].pools[0], racks(count, spares=spares))
            edited = _with_pools(self.present[name], *pools)
            self._edit(name, tenants=tuple((self.present | {name: edited}).values()))

    @precondition(lambda self: self.now.tenants)
    @rule(name=names)
    def remove_racks(self, name: str) -> None:
        if name in self.present:
            edited = _with_pools(self.present[name], self.present[name].clusters[0].pools[0])
            self._edit(name, tenants=tuple((self.present | {name: edited}).values()))

    @rule(name=st.sampled_from(["a3", "b2", "n4", "n11"]))
    def add_or_remove_rack(self, name: str) -> None:
        others = tuple(host for host in self.now.hosts if host.rack != name)
        owners = {
            self.now.allocations.hosts.get(host.host, "").split("-")[0] for host in self.now.hosts if host.rack == name
        }
        if len(others) == len(self.now.hosts):
            self._edit("", hosts=others + rack(name))
        elif owners == {""}:
            self._edit("", hosts=others)

    @rule(data=st.data())
    def break_or_repair(self, data: st.DataObject) -> None:
        host = data.draw(st.sampled_from([host.host for host in self.now.hosts]))
        broken = dict(self.now.out_of_service)
        if broken.pop(host, None) is None:
            broken[host] = BROKEN
        self._edit(self.now.allocations.hosts.get(host, "").split("-")[0], out_of_service=broken)

    @precondition(lambda self: self.now.allocations.quarantine)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([*self.now.allocations.quarantine, "all"]))
        self.now = release_quarantine(self.now, name)
        self.given = _given(self.now.allocations)

    @precondition(lambda self: self.last)
    @rule()
    def allocate_again(self) -> None:
        """Check that order does not matter and that allocation is idempotent, which costs two allocations."""
        assert self.last is not None
        edited, found = self.last
        for region in (edited, edited.model_copy(update={"allocations": found.numbers, "image_pins": found.pins})):
            again = attempt(_in_another_order(region))
            assert (again.numbers, again.pins) == (found.numbers, found.pins)

    def teardown(self) -> None:
        """Run the checks of `jacquard check` on the lock files at the end of the sequence."""
        numbers, pins = sealed(self.now.allocations), sealed(self.now.image_pins)
        written = self.now.model_copy(update={"allocations": numbers, "image_pins": pins})
        rules = (locks.hand_edits, locks.numbers, locks.allocations, lock_pins.pins)
        assert [problem for rule in rules for problem in rule(written)] == []

    def _edit(self, subject: str, **changes: Any) -> None:
        edited = self.now.model_copy(update=changes)
        found = attempt(edited)
        if found.problems:
            return
        before, after = self.now, edited.model_copy(update={"allocations": found.numbers, "image_pins": found.pins})
        self.now = after
        _others_are_untouched(before, after, subject)
        had, self.given = self.given, _given(after.allocations)
        _freed_numbers_stay_with_their_holder(had, self.given)
        _nothing_is_given_twice(self.given)
        _groups_have_their_hosts(after)
        newly = after.allocations.hosts.keys() - before.allocations.hosts.keys()
        assert not newly & after.out_of_service.keys()
        moved = {key for key, pin in after.image_pins.groups.items() if before.image_pins.groups.get(key, pin) != pin}
        assert not moved
        self.last = (edited, found)


def _in_another_order(region: Environment) -> Environment:
    return region.model_copy(update={"tenants": region.tenants[::-1], "hosts": region.hosts[::-1]})


def _others_are_untouched(before: Environment, after: Environment, subject: str) -> None:
    old, new = before.allocations, after.allocations
    for name in {owner.tenant for owner in before.tenants} - {subject}:
        cluster = f"{name}-one"
        assert new.vpcs[name] == old.vpcs[name]
        assert new.clusters[cluster] == old.clusters[cluster]
        mine = {key: value for key, value in old.groups.items() if key.startswith(f"{cluster}/")}
        assert mine.items() <= new.groups.items()
        had, has = (
            {host for host, pool in lock.hosts.items() if pool.startswith(f"{cluster}/")} for lock in (old, new)
        )
        assert has == had


def _numbers(lock: AllocationsLock) -> Iterator[Given]:
    for name, vpc in lock.vpcs.items():
        yield from ((f"{vpc.tenant}/{name}", kind, block) for kind, _, block in numbers_of(vpc))
    for name, cluster in lock.clusters.items():
        yield from ((f"{cluster.tenant}/{name}", kind, block) for kind, _, block in numbers_of(cluster))
    for name, address in lock.public_ips.items():
        yield name, Kind("public_ips"), as_block(address)


def _held(numbers: Iterator[Given], tenant: str) -> dict[Kind, list[Block]]:
    found: dict[Kind, list[Block]] = defaultdict(list)
    for holder, kind, block in numbers:
        if holder.startswith(f"{tenant}/"):
            found[kind].append(block)
    return found


def _quarantined(lock: AllocationsLock) -> Iterator[Given]:
    for holder, freed in lock.quarantine.items():
        yield from ((holder, kind, block) for kind, _, block in freed_numbers(freed))


def _given(lock: AllocationsLock) -> list[Given]:
    """Return the numbers of ``lock`` that are in use or in quarantine."""
    return [*_numbers(lock), *_quarantined(lock)]


def _freed_numbers_stay_with_their_holder(before: list[Given], after: list[Given]) -> None:
    everything = {*after}
    lost = {*before} - everything
    # Without a separate range, route targets are equal to VNIs.
    assert {item for item in lost if item[1].section != "route_targets" and not _grew(*item[1:], everything)} == set()


def _grew(kind: Kind, block: Block, everything: set[Given]) -> bool:
    return kind.section == "guids" and any(other == kind and block in part for _, other, part in everything)


def _nothing_is_given_twice(given: list[Given]) -> None:
    used: dict[Kind, list[Block]] = defaultdict(list)
    for _, kind, block in given:
        used[kind].append(block)
    for blocks in used.values():
        blocks.sort()
        assert all(one.last < other.first for one, other in pairwise(blocks))


def _groups_have_their_hosts(region: Environment) -> None:
    rack_of = {host.host: host.rack for host in region.hosts}
    hosts = Counter(f"{pool}/{rack_of[host]}" for host, pool in region.allocations.hosts.items())
    for owner in region.tenants:
        for pool in owner.clusters[0].pools:
            key = f"{owner.clusters[0].name}/{pool.name}"
            groups = {
                name: group.nodes for name, group in region.allocations.groups.items() if name.startswith(f"{key}/")
            }
            working = {name for name, nodes in groups.items() if nodes}
            assert all(hosts[name] >= nodes for name, nodes in groups.items())
            if pool.racks is None:
                assert sum(groups.values()) == pool.nodes
            else:
                assert len(working) == pool.racks
                assert {hosts[name] for name in working} == {HOSTS_PER_RACK}


class ManyEdits(Edits):
    """The same with ten thousand edits."""


Edits.TestCase.settings = settings(deadline=None, max_examples=300, stateful_step_count=40)
ManyEdits.TestCase.settings = settings(deadline=None, max_examples=10_000, stateful_step_count=40)
test_edits = Edits.TestCase
test_ten_thousand_sequences_of_edits = pytest.mark.nightly(ManyEdits.TestCase)
