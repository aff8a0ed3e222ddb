"""Output of host states: deadlines in ``check`` and ``show``, and advice on transitions in ``impact``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
ZAP = "CoreWeave: 1 to 2 hours are usual, and more than 6 hours are a failure"
OVERDUE = (
    f"out_of_service.yaml:3: a01-u01 has been in zap for 2 days, more than 6 hours ({ZAP}); move it to test or triage"
)
TRANSITION = (
    "out_of_service.yaml:3 hosts.a01-u01.state: zap does not follow rma: it follows seatrial, or prepares a host of"
    " production or triage for a new test; write onboard or triage, with a separate change for each step"
    " (hosts.transition, an error from 2027-03-01)"
)


@pytest.fixture
def folder(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-21T12:00:00Z")
    write(data_folder / "laptop", "zap", "2026-11-19")
    (data_folder / "laptop" / "host_tests.yaml").write_text(
        f'schema_version: 1\nhosts:\n  a01-u02: {{passed: 2026-11-01T10:00:00Z, digest: "sha256:{"1" * 64}"}}\n'
    )
    return data_folder / "laptop"


def write(folder: Path, state: str, since: str) -> None:
    """List host a01-u01 in ``state``, and a host without a deadline."""
    (folder / "out_of_service.yaml").write_text(
        f"schema_version: 1\nhosts:\n  a01-u01: {{state: {state}, since: {since}, reason: fan, ticket: HW-1}}\n"
        "  a04-u06: {state: onboard, since: 2026-11-21, reason: new}\n"
    )


def test_a_state_beyond_its_deadline_is_an_advice(invoke: Invoke, folder: Path) -> None:
    late, structured = invoke("check", "laptop"), invoke("check", "laptop", "--format", "json")
    write(folder, "zap", "2026-11-20")
    in_time = invoke("check", "laptop", "--today", "2026-11-21")

    assert late.exit_code == 0
    assert [line for line in late.stdout.splitlines() if "a01-u01 has" in line] == [f"  advice: {OVERDUE}"]
    assert [item["host"] for item in json.loads(structured.stdout)[0]["overdue_hosts"]] == ["a01-u01"]
    assert "a01-u01 has" not in in_time.stdout


def test_a_first_day_in_the_future_is_an_advice(invoke: Invoke, folder: Path) -> None:
    write(folder, "zap", "2029-11-20")
    (advice,) = [line for line in invoke("check", "laptop").stdout.splitlines() if "future" in line]
    write(folder, "zap", "2026-11-22")
    tomorrow = invoke("check", "laptop", "--today", "2026-11-21")

    assert advice == (
        "  advice: out_of_service.yaml:3: a01-u01 is in zap since 2029-11-20, which is in the future, so its deadline"
        " is too late; write the day on which it entered the state"
    )
    assert "future" not in tomorrow.stdout


def test_the_report_lists_hosts_out_of_service_with_their_deadlines(invoke: Invoke, folder: Path) -> None:
    del folder
    shown = invoke("show", "laptop", "host-states")

    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert lines == [
        "host state since days due pool next reason",
        "a01-u01 zap 2026-11-19 2 2026-11-20 overdue acme-train/train test, triage fan (HW-1)",
        "a04-u06 onboard 2026-11-21 0 2026-11-25 - seatrial, triage new",
        "",
        "28 hosts in production, 1 of them with a recorded test",
    ]


def test_the_report_is_data_as_well(invoke: Invoke, folder: Path) -> None:
    del folder
    answer = json.loads(invoke("show", "laptop", "host-states", "--format", "json").stdout)

    assert answer["in_production"] == {"hosts": 28, "tested": 1}
    assert answer["out_of_service"][0] == {
        "place": "out_of_service.yaml:3",
        "host": "a01-u01",
        "pool": "acme-train/train",
        "state": "zap",
        "since": "2026-11-19",
        "days": 2,
        "due": "2026-11-20",
        "overdue": True,
        "limit": f"6 hours ({ZAP})",
        "next": ["test", "triage"],
        "reason": "fan",
        "ticket": "HW-1",
    }


def test_without_hosts_out_of_service_only_the_count_is_shown(invoke: Invoke, folder: Path) -> None:
    (folder / "out_of_service.yaml").unlink()

    assert invoke("show", "laptop", "host-states").stdout == "30 hosts in production, 1 of them with a recorded test\n"


def test_another_machine_without_a_test_is_reported_in_its_row(invoke: Invoke, folder: Path, edit: Edit) -> None:
    committed(folder.parent)
    hall = folder / "inventory" / "hall-a.csv"
    edit(hall, ",C26A0405,", ",C26A0499,")

    result = invoke("check", "laptop", "--base", "HEAD")

    row = 1 + next(i for i, line in enumerate(hall.read_text().splitlines()) if ",C26A0499," in line)
    assert f"inventory/hall-a.csv:{row} host: a04-u05 would enter production without a test; " in result.stdout


def test_impact_warns_of_a_transition_and_does_not_refuse_it(invoke: Invoke, folder: Path) -> None:
    write(folder, "rma", "2026-11-19")
    committed(folder.parent)
    write(folder, "zap", "2026-11-19")

    shown, structured, comment = (
        invoke("impact", "laptop", *form) for form in ((), ("--format", "json"), ("--format", "markdown"))
    )

    assert shown.exit_code == 0, shown.output
    assert f"1 warning of new rules:\n  {TRANSITION}\n" in shown.stdout
    assert "  no node, host or DPU is affected\n" in shown.stdout
    assert json.loads(structured.stdout)[0]["warnings"] == [TRANSITION]
    assert "zap does not follow rma" in comment.stdout
