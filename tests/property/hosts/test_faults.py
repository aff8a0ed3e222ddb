"""Arbitrary faults in a fully contracted region: they can be recorded, move no allocation, and count once."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from components.reports.contracts import unmet_contracts
from components.rules.checks import check
from tests.support.data.small_region import HOSTS_PER_RACK, allocated, broken, sold_out

SOLD = sold_out()
HOSTS = sorted(host.host for host in SOLD.hosts)
RACKS = len({host.rack for host in SOLD.hosts})


@given(st.sets(st.sampled_from(HOSTS)))
def test_every_set_of_faults_is_recorded_and_no_contract_misses_more_than_broke(faults: set[str]) -> None:
    faulty = broken(SOLD, *faults)
    missed = sum(item.contracted - item.running for item in unmet_contracts(faulty, dt.date(2026, 1, 1)))

    assert {problem.rule for problem in check(faulty)} == {problem.rule for problem in check(SOLD)}
    assert allocated(faulty).allocations == SOLD.allocations
    assert missed <= len(faults)
    assert missed >= len(faults) - RACKS  # At most one spare per rack is a replacement.
    if len(faults) == len(HOSTS):
        assert missed == RACKS * (HOSTS_PER_RACK - 1)
