"""Regions of benchmarks with more hosts than `laptop` have no problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.rules.checks import check
from components.specs.reading.loader import load_environment
from tests.support.data.scaled_region import FEWEST_HOSTS, MOST_HOSTS, NAME, region_of


@pytest.mark.parametrize("hosts", [FEWEST_HOSTS, 75, 480, 481, 1500, MOST_HOSTS])
def test_a_region_with_more_hosts_has_no_problems(hosts: int, tmp_path: Path) -> None:
    environment = load_environment(NAME, region_of(hosts, tmp_path / "environments"))

    assert len(environment.hosts) == hosts
    assert list(check(environment)) == []
    assert len(environment.allocations.hosts) > hosts / 2


@pytest.mark.parametrize("hosts", [FEWEST_HOSTS - 1, MOST_HOSTS + 1])
def test_another_number_of_hosts_is_rejected(hosts: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"a region has 30 to 6000 hosts, not {hosts}"):
        region_of(hosts, tmp_path / "environments")
