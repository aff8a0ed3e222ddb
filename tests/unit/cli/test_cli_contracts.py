"""Contracts with dates in ``check``, ``show``, ``fleet`` and ``place``: texts, data and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
CONTRACT = "  - {instance_type: h100-ib-8, nodes: 14}\n"
ENDED, LATER = ("--today", "2027-01-10"), ("--today", "2026-11-21")
ORDER = """\
schema_version: 1
order: heron
tenant: heron
contacts: {alerts: oncall@heron.example, changes: platform@heron.example}
from: 2027-01-01
until: 2027-06-30
cluster: heron
version: v1.35.2
egress: public
items:
  - {instance_type: h100-ib-8, nodes: 8, within: region}   # the first
"""


@pytest.fixture
def dated(data_folder: Path, edit: Edit) -> Path:
    """Data with a contract that ends with the year, and a smaller one after that."""
    acme = data_folder / "laptop" / "tenants" / "acme.yaml"
    until = CONTRACT.replace("}", ", until: 2026-12-31}")
    edit(acme, CONTRACT, f"{until}  - {{instance_type: h100-ib-8, nodes: 4, from: 2027-01-01}}\n")
    return data_folder


@pytest.fixture
def fleet(dated: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet of one open region, with a contract that ends with the year, and an order that starts then."""
    acme = dated / "laptop" / "tenants" / "acme.yaml"
    edit(acme, "  - {instance_type: h100-ib-8, nodes: 4, from: 2027-01-01}\n", "")
    (dated / "fleet.yaml").write_text("schema_version: 1\nregions:\n  laptop: {status: open, jurisdictions: [us]}\n")
    (dated / "orders").mkdir()
    (dated / "orders" / "heron.yaml").write_text(ORDER)
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-28T12:00:00Z")
    return dated


def test_an_ended_contract_with_nodes_in_use_is_an_advice(invoke: Invoke, dated: Path) -> None:
    del dated
    before, after = invoke("check", "laptop", *LATER), invoke("check", "laptop", *ENDED)
    [answer] = json.loads(invoke("check", "laptop", *ENDED, "--format", "json").stdout)

    assert (before.exit_code, after.exit_code) == (ExitCode.OK, ExitCode.OK), before.output
    assert "the contract for" not in before.stdout
    advice = (
        "the contract for h100-ib-8 ended on 2026-12-31; 4 nodes are contracted, but the pools have 14; make them"
        " smaller by 10, or extend the contract"
    )
    assert [line.partition("yaml:9: ")[2] for line in after.stdout.splitlines() if "advice: tenants/acme" in line] == [
        advice
    ]
    [ended] = answer["ended_contracts"]
    assert (ended["tenant"], ended["ended"], ended["contracted"], ended["planned"]) == ("acme", "2026-12-31", 4, 14)


def test_contracts_that_end_soon_are_listed(invoke: Invoke, dated: Path) -> None:
    del dated
    result = invoke("show", "laptop", "capacity", *LATER)
    answer = json.loads(invoke("show", "laptop", "capacity", *LATER, "--format", "json").stdout)
    other = json.loads(invoke("show", "laptop", "capacity", *ENDED, "--format", "json").stdout)

    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["laptop", "acme", "h100-ib-8", "2026-12-31", "14", "4", "14", "40"] in rows
    assert [(item["tenant"], item["until"]) for item in answer["ending_contracts"]] == [("acme", "2026-12-31")]
    assert other["ending_contracts"] == []
    counts = [item["instance_types"][0]["nodes"]["contracted"] for item in (answer, other)]
    assert counts[0] - counts[1] == 10


def test_a_contract_that_ends_before_it_begins(invoke: Invoke, dated: Path, edit: Edit) -> None:
    edit(dated / "laptop" / "tenants" / "acme.yaml", "from: 2027-01-01", "from: 2027-01-01, until: 2026-12-31")

    result = invoke("check", "laptop")

    assert result.exit_code == ExitCode.BAD_DATA
    problem = "contract[1].until: is before from (2027-01-01) (got '2026-12-31'); write a later day"
    assert problem in result.stderr


def test_an_order_is_reserved_and_the_fleet_shows_the_days(invoke: Invoke, fleet: Path) -> None:
    file = fleet / "orders" / "heron.yaml"
    dry = invoke("place", "heron", "--dry-run")
    assert file.read_text() == ORDER

    result, again = invoke("place", "heron"), invoke("place", "heron")

    assert (dry.exit_code, result.exit_code, again.exit_code) == (0, 0, 0), result.output
    assert file.read_text() == f"{ORDER}reserved_in: laptop\n"
    end = "heron is reserved in laptop from 2027-01-01; place it when the nodes are free\n"
    assert all(item.stdout.endswith(end) for item in (dry, result, again))
    assert "chosen from 2027-01-01" in result.stdout
    assert "today: capacity: 8 h100-ib-8 are ordered, " in result.stdout
    assert "+reserved_in: laptop" in result.stdout
    assert "+reserved_in" not in again.stdout
    assert invoke("check").exit_code == ExitCode.OK

    shown = invoke("fleet", "--ending-within", "33")
    answer = json.loads(invoke("fleet", "--ending-within", "32", "--format", "json").stdout)
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["heron", "heron", "2027-01-01", "2027-06-30", "laptop", "8", "h100-ib-8"] in rows
    assert ["laptop", "acme", "h100-ib-8", "2026-12-31", "14", "0", "14", "33"] in rows
    [region] = answer["regions"]
    assert region["ending_contracts"] == []
    days = {item["day"]: (item["contracted"], item["reserved"]) for item in region["types"][0]["dates"]}
    assert days == {"2027-01-01": (4, 8), "2027-07-01": (4, 0)}


def test_an_order_that_ended(invoke: Invoke, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del fleet
    monkeypatch.setenv("JACQUARD_NOW", "2027-07-01T12:00:00Z")

    result = invoke("place", "heron")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == "error: heron ended on 2027-06-30; write a later day, or remove the order\n"
