"""Evidence for production: transitions without their conditions, and reports without proof, are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.checks.places import resolved
from tests.support.objects.burn_in import written

Invoke = Callable[..., Result]
REPORT = "report.json"
BACK = ("--to", "production", "--evidence", REPORT)
NO_TEST = "production does not follow triage: only burn-in and the end of a reservation lead to it"


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-21T12:00:00Z")
    monkeypatch.chdir(tmp_path)


def in_state(faults: Path, state: str) -> str:
    """List host a04-u01 since the day before, and return the text of the file."""
    faults.write_text(
        f"schema_version: 1\nhosts:\n  a04-u01: {{state: {state}, since: 2026-11-20, reason: Xid 79, ticket: HW-1}}\n"
    )
    return faults.read_text()


AWAY: dict[tuple[str, tuple[str, ...]], str] = {
    ("triage", ("--to", "triage")): (
        "host a04-u01 is already in triage, since 2026-11-20; to renew its entry, add --reason TEXT"
    ),
    ("triage", ("--to", "test", *BACK[2:])): "--evidence requires --to production; omit it with --to test",
    ("triage", (*BACK, "--reason", "done")): (
        "--reason and --ticket describe hosts out of service; omit them with --to production\n"
        f"host a04-u01: {NO_TEST}; write rma, debug, zap or test"
    ),
    ("test", ("--to", "production")): (
        "host a04-u01: production after test requires a passed test of the last 168 hours; add --evidence FILE"
        " with its report"
    ),
}


@pytest.mark.parametrize(("case", "text"), AWAY.items())
def test_transitions_without_their_conditions_are_refused(
    invoke: Invoke, faults: Path, tmp_path: Path, case: tuple[str, tuple[str, ...]], text: str
) -> None:
    state, arguments = case
    before = in_state(faults, state)
    written(tmp_path / REPORT, "a04-u01")

    result = invoke("host", "laptop", "a04-u01", *arguments)

    assert (result.exit_code, result.stderr) == (2, f"error: {text}\n")
    assert faults.read_text() == before


REPORTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another host": (
        {"host": "a04-u02", "serial": "C26A0402"},
        [
            "is a report about host a04-u02; pass the report of a04-u01",
            (
                "is a report about chassis C26A0402, but a04-u01 has C26A0401 (inventory/hall-a.csv:<a04-u01>);"
                " correct one of the two"
            ),
        ],
    ),
    "a failed run": ({"result": "fail"}, ["the run did not pass; move the host to triage"]),
    "failed tests": (
        {"tests": [{"name": "nccl", "result": "fail", "value": 90}, {"name": "hpl", "result": "fail"}]},
        ["the run did not pass (nccl, hpl); move the host to triage"],
    ),
    "too old": (
        {"started": "2026-11-12T00:00:00Z", "finished": "2026-11-13T00:00:00Z"},
        [
            "the run ended at 2026-11-13T00:00:00Z, more than 168 hours ago; test the host again",
            (
                "the run started at 2026-11-12T00:00:00Z, before the host entered test on 2026-11-20; test the host"
                " again"
            ),
        ],
    ),
    "from the future": (
        {"finished": "2026-11-21T13:00:00Z"},
        ["the run ended at 2026-11-21T13:00:00Z, which is in the future; correct the clock of one of the machines"],
    ),
}


@pytest.mark.parametrize("case", REPORTS)
def test_a_report_that_proves_nothing_is_refused_with_all_reasons(
    invoke: Invoke, faults: Path, tests: Path, tmp_path: Path, case: str
) -> None:
    fields, reasons = REPORTS[case]
    before = in_state(faults, "test")
    written(tmp_path / REPORT, **{"host": "a04-u01", **fields})

    result = invoke("host", "laptop", "a04-u01", *BACK)

    text = resolved("\n".join(f"--evidence {REPORT}: {reason}" for reason in reasons), faults.parent)
    assert (result.exit_code, result.stderr) == (2, f"error: {text}\n")
    assert (faults.read_text(), tests.exists()) == (before, False)


FORMS: dict[str, tuple[str, list[str]]] = {
    "no JSON": (
        "{",
        [
            (
                "report.json:1  is not JSON: expecting property name enclosed in double quotes; pass the JSON report of"
                " a test run (docs/hosts/host-states.md)"
            )
        ],
    ),
    "a list": (
        "[]",
        [
            "report.json  is not a test report; pass the JSON report of a test run (docs/hosts/host-states.md)",
        ],
    ),
    "wrong values": (
        json.dumps(
            {
                "schema_version": 1,
                "host": "a04-u01",
                "tool": "burn-in",
                "started": "2026-11-21T10:00:00Z",
                "finished": "2026-11-21",
                "result": "passed",
                "tests": [],
            }
        ),
        [
            (
                "report.json  finished: must be a moment with its offset from UTC like 2026-12-20T00:00:00Z (got"
                " '2026-11-21')"
            ),
            "report.json  result: must be one of pass, fail (got 'passed'); did you mean 'pass'?",
            "report.json  tests: needs at least 1 entry (got an empty list)",
        ],
    ),
    "contradictions": (
        json.dumps(
            {
                "schema_version": 1,
                "host": "a04-u01",
                "tool": "burn-in",
                "started": "2026-11-21T10:00:00Z",
                "finished": "2026-11-21T09:00:00Z",
                "result": "pass",
                "tests": [{"name": "hpl", "result": "pass"}] * 2,
            }
        ),
        [
            (
                "report.json  finished: must not be before started, 2026-11-21T10:00:00+00:00 (got"
                " '2026-11-21T09:00:00+00:00'); correct the clock of the tool"
            ),
            "report.json  tests: has 2 results of test 'hpl'; keep one of them",
        ],
    ),
}


@pytest.mark.parametrize("case", FORMS)
def test_a_file_that_is_no_report_is_refused_with_all_problems(
    invoke: Invoke, faults: Path, tmp_path: Path, case: str
) -> None:
    text, problems = FORMS[case]
    in_state(faults, "test")
    (tmp_path / REPORT).write_text(text)

    result = invoke("host", "laptop", "a04-u01", *BACK)

    assert result.exit_code == 2
    assert result.stderr.splitlines()[1:] == [f"  {problem}" for problem in problems]


MOVERS = "schema_version: 1\nhost_movers: {triage: [noc, pipeline], production: [burn-in]}\n"


def test_a_restricted_state_requires_a_permitted_person_who_is_recorded(
    invoke: Invoke, faults: Path, tests: Path, tmp_path: Path
) -> None:
    (faults.parent / "policy.yaml").write_text(MOVERS)
    before = in_state(faults, "test")
    written(tmp_path / REPORT, "a04-u01")

    refused = invoke("host", "laptop", "a04-u01", *BACK, "--by", "ann")
    unnamed = invoke("host", "laptop", "a04-u01", "--to", "triage")

    assert (refused.exit_code, unnamed.exit_code) == (2, 2)
    assert refused.stderr == (
        "error: --by: only burn-in may move hosts to production (host_movers), not ann; let one of them move it\n"
    )
    assert unnamed.stderr.startswith(
        "error: --by: only noc, pipeline may move hosts to triage (host_movers), and no mover"
    )
    assert (faults.read_text(), tests.exists()) == (before, False)

    assert invoke("host", "laptop", "a04-u01", "--to", "triage", "--by", "noc").exit_code == 0
    assert faults.read_text().endswith(", ticket: HW-1, by: noc}\n")
    in_state(faults, "test")
    assert invoke("host", "laptop", "a04-u01", *BACK, "--by", "burn-in").exit_code == 0
    assert tests.read_text().endswith(", by: burn-in}\n")
    assert invoke("check", "laptop").exit_code == 0
