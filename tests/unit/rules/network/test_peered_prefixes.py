"""Peered VPCs never share an address: each tenant prefix is allocated once, even in edited lock files."""

from __future__ import annotations

from components.rules.region import locks
from tests.support.network.drawn_regions import NAMES, PLAIN, region


def test_prefixes_that_two_peers_have_in_common_are_refused() -> None:
    ant, bee = NAMES[:2]
    environment = region(dict.fromkeys((ant, bee), PLAIN), None, peerings=[(ant, bee)])
    lock = environment.allocations
    inside = next(lock.vpcs[ant].pods.subnets(prefixlen_diff=1))
    meeting = {**lock.vpcs, bee: lock.vpcs[bee].model_copy(update={"pods": inside})}
    edited = environment.model_copy(update={"allocations": lock.model_copy(update={"vpcs": meeting})})

    assert list(locks.numbers(environment)) == []
    assert any(str(inside) in problem.text for problem in locks.numbers(edited))
