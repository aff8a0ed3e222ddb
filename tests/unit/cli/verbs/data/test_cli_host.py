"""``jacquard host``: faults are always recorded, their effect is reported, and only a passed test returns a host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.objects.burn_in import digest_of, written

Invoke = Callable[..., Result]
DAY = "2026-11-21"
REPORT = "report.json"
BUS = "GPU 5 fell off the bus"
TRIAGE = ("--to", "triage", "--reason", BUS)
BACK = ("--to", "production", "--evidence", REPORT)
STATES = "onboard, seatrial, zap, test, production, triage, rma, debug, reserved"
HEADER = "# yaml-language-server: $schema=../../schemas/{}.schema.json\n"


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JACQUARD_NOW", f"{DAY}T12:00:00Z")
    monkeypatch.chdir(tmp_path)


def in_test(faults: Path, *hosts: str, state: str = "test") -> str:
    """List ``hosts`` as in burn-in since the day before, and return the text of the file."""
    rows = "".join(f"  {name}: {{state: {state}, since: 2026-11-20, reason: {BUS}, ticket: HW-1}}\n" for name in hosts)
    faults.write_text(f"{HEADER.format('out_of_service')}schema_version: 1\nhosts:\n{rows}")
    return faults.read_text()


def test_a_free_host_replaces_a_broken_one(invoke: Invoke, faults: Path) -> None:
    result = invoke("host", "laptop", "a04-u01", *TRIAGE, "--ticket", "HW-1")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-8] == "a04-u01 is out of service in acme-train/system, which gets a04-u04"
    assert faults.read_text() == (
        f"{HEADER.format('out_of_service')}"
        "schema_version: 1\n"
        "hosts:\n"
        f'  a04-u01: {{state: triage, since: {DAY}, reason: "{BUS}", ticket: HW-1}}\n'
    )
    assert "+  a04-u04: acme-train/system" in result.stdout.splitlines()
    assert invoke("check", "laptop").exit_code == 0
    assert "out_of_service.yaml" not in invoke("schema").output


def test_without_free_hosts_spares_are_used_and_then_nodes_are_missing(invoke: Invoke) -> None:
    first, second = invoke("host", "laptop", "a01-u01", *TRIAGE), invoke("host", "laptop", "a01-u02", *TRIAGE)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.splitlines()[-8] == "a01-u01 is out of service in acme-train/train, which gets no other host"
    assert first.stderr == (
        "note: acme-train/train needs 1 host in a01, where no host is free; spares are in use, 10 of 10 nodes can run;"
        " return a host once it is repaired: jacquard host laptop HOST --to production --evidence FILE\n"
    )
    assert "9 of 10 nodes can run" in second.stderr
    checked = invoke("check", "laptop")
    assert checked.exit_code == 0
    assert "unmet: " in checked.stdout


def test_reason_and_ticket_stay_through_the_steps_of_a_repair(invoke: Invoke, faults: Path) -> None:
    faults.write_text(
        "schema_version: 1\nhosts:   # seen at night\n  a02-u01: {state: debug, since: 2026-11-17, reason: Xid 149}\n"
    )
    invoke("host", "laptop", "a04-u06", *TRIAGE, "--ticket", "HW-1")

    for step in ("rma", "onboard", "seatrial"):
        assert invoke("host", "laptop", "a04-u06", "--to", step).exit_code == 0
    invoke("host", "laptop", "a04-u06", "--to", "zap", "--reason", "new board")

    assert faults.read_text() == (
        "schema_version: 1\n"
        "hosts:   # seen at night\n"
        "  a02-u01: {state: debug, since: 2026-11-17, reason: Xid 149}\n"
        f'  a04-u06: {{state: zap, since: {DAY}, reason: "new board", ticket: HW-1}}\n'
    )


def test_a_host_returns_with_the_digest_of_its_test(invoke: Invoke, faults: Path, tests: Path, tmp_path: Path) -> None:
    before = in_test(faults, "a02-u01")
    in_test(faults, "a02-u01", "a04-u01")
    tests.write_text(
        f"{HEADER.format('host_tests')}# written by jacquard host; review, do not edit\nschema_version: 1\nhosts:\n"
        f'  a02-u02: {{passed: 2026-11-01T10:00:00Z, digest: "sha256:{"1" * 64}"}}\n'
    )
    report = written(tmp_path / REPORT, "a04-u01", serial="c26a0401", finished="2026-11-21T12:30:00+02:00")

    result = invoke("host", "laptop", "a04-u01", *BACK, "--format", "json")

    line = f'  a04-u01: {{passed: 2026-11-21T12:30:00+02:00, digest: "{digest_of(report)}"}}'
    assert result.exit_code == 0, result.output
    assert faults.read_text() == before
    assert tests.read_text().splitlines()[-2:] == [
        f'  a02-u02: {{passed: 2026-11-01T10:00:00Z, digest: "sha256:{"1" * 64}"}}',
        line,
    ]
    assert json.loads(result.stdout) == {
        "environment": "laptop",
        "host": "a04-u01",
        "from": "test",
        "to": "production",
        "evidence": digest_of(report),
        "pool": "acme-train/system",
        "stand_ins": [],
        "why_none": "",
        "steps": [],
        "diff": [
            "--- laptop/out_of_service.yaml",
            "+++ laptop/out_of_service.yaml",
            "@@ -5 +4,0 @@",
            f"-  a04-u01: {{state: test, since: 2026-11-20, reason: {BUS}, ticket: HW-1}}",
            "--- laptop/host_tests.yaml",
            "+++ laptop/host_tests.yaml",
            "@@ -5,0 +6 @@",
            f"+{line}",
        ],
    }
    assert invoke("check", "laptop").exit_code == 0
    assert "host_tests.yaml" not in invoke("schema").output


def test_the_output_reports_how_the_surplus_is_released(invoke: Invoke, faults: Path, tmp_path: Path) -> None:
    invoke("host", "laptop", "a04-u01", *TRIAGE)
    in_test(faults, "a04-u01")
    written(tmp_path / REPORT, "a04-u01")

    result = invoke("host", "laptop", "a04-u01", *BACK)

    assert result.stdout.splitlines()[-1] == (
        "a04-u01 is a host of acme-train/system again; to release surplus hosts: jacquard allocate laptop"
        " --release-hosts acme-train/system"
    )
    assert invoke("allocate", "laptop", "--release-hosts", "acme-train/system").exit_code == 0


def test_a_newer_test_of_a_host_in_production_is_recorded(
    invoke: Invoke, faults: Path, tests: Path, tmp_path: Path
) -> None:
    report = written(tmp_path / REPORT, "a01-u01")

    result = invoke("host", "laptop", "a01-u01", *BACK)

    assert result.stdout.splitlines()[-1] == "a01-u01 is in production; its test is recorded"
    assert tests.read_text() == (
        f"{HEADER.format('host_tests')}# written by jacquard host; review, do not edit\nschema_version: 1\nhosts:\n"
        f'  a01-u01: {{passed: 2026-11-21T10:00:00Z, digest: "{digest_of(report)}"}}\n'
    )
    assert not faults.exists()


def test_hosts_are_sorted_and_strings_are_quoted_if_yaml_requires_it(invoke: Invoke, faults: Path) -> None:
    for name, reason in (("a04-u06", "no"), ("a02-u01", "Xid: 79"), ("a04-u06", "yes, again")):
        assert invoke("host", "laptop", name, "--to", "triage", "--reason", reason).exit_code == 0

    assert faults.read_text().splitlines()[3:] == [
        f'  a02-u01: {{state: triage, since: {DAY}, reason: "Xid: 79"}}',
        f'  a04-u06: {{state: triage, since: {DAY}, reason: "yes, again"}}',
    ]
    assert invoke("check", "laptop").exit_code == 0


def test_an_unallocated_host(invoke: Invoke, faults: Path, tmp_path: Path) -> None:
    assert invoke("host", "laptop", "a04-u06", *TRIAGE).stdout.endswith("a04-u06 is unassigned; no pool is affected\n")
    in_test(faults, "a04-u06")
    written(tmp_path / REPORT, "a04-u06")

    assert invoke("host", "laptop", "a04-u06", *BACK).stdout.endswith(
        "a04-u06 is unassigned and available to pools again\n"
    )


OPTIONS: dict[tuple[str, ...], str] = {
    ("a01-u01",): f"--to is required; write one of {STATES}",
    ("a01-u01", "--out", "rma"): "--out was replaced; write --to rma",
    (
        "a01-u01",
        "--back",
    ): "--back was replaced; write --to production --evidence FILE with the report of a passed test",
    ("a01-u01", "--to", "triage"): "--reason is required with --to triage; write the cause or the planned work",
    ("a01-u01", "--to", "rma", "--reason", "fan"): (
        "host a01-u01: rma does not follow production: triage or debug first finds the component to return; write"
        " triage, zap, test, reserved or onboard"
    ),
    ("a01-u01", "--to", "production"): (
        "host a01-u01 is already in production; to record a newer test, add --evidence FILE"
    ),
    ("a01-u01", "--to", "production", "--evidence", "gone.json"): (
        "--evidence gone.json: no such file or directory; name a file with the report of a passed test"
    ),
    ("a01-u1", "--to", "triage"): "host 'a01-u1' is unknown; did you mean 'a01-u01'?",
    ("nowhere", "--to", "triage"): "host 'nowhere' is unknown; the inventory of laptop lists its hosts",
}


@pytest.mark.parametrize(("arguments", "text"), OPTIONS.items(), ids=" ".join)
def test_an_invalid_transition_is_rejected_without_changes(
    invoke: Invoke, faults: Path, arguments: tuple[str, ...], text: str
) -> None:
    result = invoke("host", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (2, f"error: {text}\n")
    assert not faults.exists()


def test_a_reason_that_breaks_a_rule_of_the_file_writes_nothing(invoke: Invoke, faults: Path) -> None:
    result = invoke("host", "laptop", "a01-u01", "--to", "triage", "--reason", "x" * 300)

    assert result.exit_code == 2
    assert "out_of_service.yaml:4  hosts.a01-u01.reason" in result.stderr
    assert not faults.exists()
