"""``jacquard host``: a fault is recorded whatever it means, and it is said what it means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Invoke = Callable[..., Result]
DAY = "2026-11-21"
EITHER = "error: write either --out STATE with --reason TEXT, or --back"
RMA = ("--out", "rma", "--reason", "GPU 5 fell off the bus")


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_NOW", f"{DAY}T12:00:00Z")


@pytest.fixture
def faults(data_folder: Path) -> Path:
    return data_folder / "laptop" / "out_of_service.yaml"


def test_a_free_host_takes_the_place_of_a_broken_one(invoke: Invoke, faults: Path) -> None:
    result = invoke("host", "laptop", "a04-u01", *RMA, "--ticket", "HW-1")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-8] == "a04-u01 is out of service in acme-train/system, which gets a04-u04"
    assert faults.read_text() == (
        "# yaml-language-server: $schema=../../schemas/out_of_service.schema.json\n"
        "schema_version: 1\n"
        "hosts:\n"
        f'  a04-u01: {{state: rma, since: {DAY}, reason: "GPU 5 fell off the bus", ticket: HW-1}}\n'
    )
    assert "+  a04-u04: acme-train/system" in result.stdout.splitlines()
    assert invoke("check", "laptop").exit_code == 0
    assert "out_of_service.yaml" not in invoke("schema").output


def test_where_none_is_free_spares_stand_in_and_then_nodes_are_missing(invoke: Invoke) -> None:
    first, second = invoke("host", "laptop", "a01-u01", *RMA), invoke("host", "laptop", "a01-u02", *RMA)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.splitlines()[-8] == "a01-u01 is out of service in acme-train/train, which gets no other host"
    assert first.stderr == (
        "note: acme-train/train needs 1 host in a01, where no host is free; spares are in use, 10 of 10 nodes can run;"
        " remove a host from out_of_service.yaml once it is repaired\n"
    )
    assert "9 of 10 nodes can run" in second.stderr
    checked = invoke("check", "laptop")
    assert checked.exit_code == 0
    assert "unmet: " in checked.stdout


def test_a_host_comes_back_and_the_file_is_as_before(invoke: Invoke, faults: Path) -> None:
    faults.write_text(
        "schema_version: 1\nhosts:   # seen at night\n  a02-u01: {state: debug, since: 2026-11-17, reason: Xid 149}\n"
    )
    before = faults.read_text()
    invoke("host", "laptop", "a04-u01", *RMA)

    result = invoke("host", "laptop", "a04-u01", "--back", "--format", "json")

    assert result.exit_code == 0, result.output
    assert faults.read_text() == before
    assert json.loads(result.stdout) == {
        "environment": "laptop",
        "host": "a04-u01",
        "out": None,
        "pool": "acme-train/system",
        "stand_ins": [],
        "why_none": "",
        "steps": [],
        "diff": [
            "--- laptop/out_of_service.yaml",
            "+++ laptop/out_of_service.yaml",
            "@@ -4 +3,0 @@",
            f'-  a04-u01: {{state: rma, since: {DAY}, reason: "GPU 5 fell off the bus"}}',
        ],
    }


def test_back_says_how_the_surplus_goes(invoke: Invoke) -> None:
    invoke("host", "laptop", "a04-u01", *RMA)

    result = invoke("host", "laptop", "a04-u01", "--back")

    assert result.stdout.splitlines()[-1] == (
        "a04-u01 is a host of acme-train/system again; to release surplus hosts: jacquard allocate laptop"
        " --release-hosts acme-train/system"
    )
    assert invoke("allocate", "laptop", "--release-hosts", "acme-train/system").exit_code == 0


def test_hosts_stand_in_order_and_words_are_quoted_where_yaml_needs_it(invoke: Invoke, faults: Path) -> None:
    for name, reason in (("a04-u06", "no"), ("a02-u01", "Xid: 79"), ("a04-u06", "yes, again")):
        assert invoke("host", "laptop", name, "--out", "triage", "--reason", reason).exit_code == 0

    assert faults.read_text().splitlines()[3:] == [
        f'  a02-u01: {{state: triage, since: {DAY}, reason: "Xid: 79"}}',
        f'  a04-u06: {{state: triage, since: {DAY}, reason: "yes, again"}}',
    ]
    assert invoke("check", "laptop").exit_code == 0


def test_a_host_of_nobody(invoke: Invoke) -> None:
    assert invoke("host", "laptop", "a04-u06", *RMA).stdout.endswith("a04-u06 is unassigned; no pool is affected\n")
    assert invoke("host", "laptop", "a04-u06", "--back").stdout.endswith(
        "a04-u06 is unassigned and available to pools again\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("a01-u01",), EITHER),
        (
            ("a01-u01", "--back", *RMA),
            f"{EITHER}\n--reason and --ticket require --out; omit them with --back",
        ),
        (("a01-u01", "--out", "rma"), "error: --reason is required with --out; write the cause or the planned work"),
        (("a01-u01", "--back"), "error: host a01-u01 is already in service"),
        (
            ("a01-u1", "--back"),
            "error: host 'a01-u1' is unknown; did you mean 'a01-u01'?",
        ),
        (("nowhere", "--back"), "error: host 'nowhere' is unknown; the inventory of laptop lists its hosts"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(
    invoke: Invoke, faults: Path, arguments: tuple[str, ...], told: str
) -> None:
    result = invoke("host", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (2, f"{told}\n")
    assert not faults.exists()


def test_a_reason_that_breaks_a_rule_of_the_file_writes_nothing(invoke: Invoke, faults: Path) -> None:
    result = invoke("host", "laptop", "a01-u01", "--out", "rma", "--reason", "x" * 300)

    assert result.exit_code == 2
    assert "out_of_service.yaml:4  hosts.a01-u01.reason" in result.stderr
    assert not faults.exists()
