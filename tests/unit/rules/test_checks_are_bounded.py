"""Reports of thousands of equal mistakes show the first ones, and the number of others."""

from __future__ import annotations

import pytest

from components.rules.checks import check_data
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

HALL = "inventory/hall-a.csv"


def test_a_rule_stops_after_a_limit_of_problems_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.rules.checks.MAX_PROBLEMS", 2)
    laptop = load_environment("laptop", paths.ROOT / "environments")
    doubled = laptop.model_copy(update={"hosts": (*laptop.hosts[:4], *laptop.hosts)})

    duplicates = [problem for problem in check_data(doubled) if problem.rule == "inventory.host-duplicates"]

    expected = (
        f"{HALL}:<a01-u05> : {_copy('a01-u01')}",
        f"{HALL}:<a01-u06> : {_copy('a01-u02')}",
        f"{HALL}:<a01-u07> : rule stopped after 2 problems; fix those first",
    )
    assert [f"{problem.place} {problem.path}: {problem.text}" for problem in duplicates] == [
        resolved(line, LAPTOP) for line in expected
    ]


def _copy(host: str) -> str:
    columns = "host, boot_mac, serial, dpu_serial, bmc, slot"
    return f"repeats {columns} of {host} ({HALL}:<{host}>); write the values of this host, or remove the row"
