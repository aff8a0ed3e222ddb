"""``jacquard promote`` for a pool: immediately, by wave with evidence from ``status``, planned, and rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from components.specs.struct import asdict, replace
from jacquard.observe.region_status import assemble
from tests.support.checks.places import resolved
from tests.support.objects.settled_region import settled_region

Invoke = Callable[..., Result]
NEW = "gpu-2026.11.1"
TRAIN = "acme-train/train"
TODAY = ("--today", "2026-11-21")
TO = ("promote", "laptop", TRAIN, "--to", NEW, *TODAY)
BACK = ("promote", "laptop", TRAIN, "--rollback")


def lock(data_folder: Path) -> str:
    return (data_folder / "laptop" / "images.lock.yaml").read_text()


def evidence(data_folder: Path) -> Path:
    """Return the file that ``status --format json`` would write for a reconciled region."""
    spec = load_environment("laptop", data_folder)
    seen = replace(settled_region(spec), at=datetime(2026, 11, 21, 9, tzinfo=UTC))
    for body in seen.of("Machine"):
        for item in body["status"]["conditions"]:
            item["lastTransitionTime"] = "2026-11-21T08:00:00Z"
    file = data_folder.parent / "evidence.json"
    file.write_text(json.dumps(asdict(assemble(spec, seen))))
    return file


def test_a_pool_without_canary_and_limits_is_promoted_and_rolled_back_immediately(
    invoke: Invoke, data_folder: Path
) -> None:
    before = lock(data_folder)

    there = json.loads(invoke(*TO, "--all", "--format", "json").stdout)
    again = invoke(*TO)
    back = json.loads(invoke(*BACK, "--format", "json").stdout)

    groups = [f"{TRAIN}/a01", f"{TRAIN}/a02"]
    assert {key: there[key] for key in ("version", "groups", "open")} == {
        "version": NEW,
        "groups": groups,
        "open": False,
    }
    current = f"every rollout group is already pinned to {NEW} and the current data"
    assert again.output == f"{TRAIN}: {current}, nothing to change\n"
    assert (back["version"], back["groups"]) == ("gpu-2026.10.2", groups)
    assert lock(data_folder) == before


def test_several_groups_move_only_as_the_user_chooses(invoke: Invoke, data_folder: Path) -> None:
    before = lock(data_folder)

    result = invoke(*TO)
    both = invoke(*TO, "--all", "--wave", "1")

    expected = (
        f"images.lock.yaml:<groups.{TRAIN}/a01>  groups.{TRAIN}/a01: neither --wave nor --all is set; promote it in 2 "
        f"waves (--plan lists them): jacquard promote laptop {TRAIN} --to {NEW} --wave 1, or promote all together with "
        "--all\n"
    )
    assert result.stderr.endswith(resolved(expected, data_folder / "laptop"))
    assert both.stderr == f"error: --all and --wave exclude each other; write one of them for {TRAIN}\n"
    assert (result.exit_code, both.exit_code) == (2, 2)
    assert lock(data_folder) == before


def test_a_pool_moves_wave_by_wave_with_the_evidence_of_status(invoke: Invoke, data_folder: Path) -> None:
    first = invoke(*TO, "--wave", "1")
    again = invoke(*TO, "--wave", "1")
    unproven = invoke(*TO, "--wave", "2")
    file = evidence(data_folder)
    second = invoke(*TO, "--wave", "2", "--evidence", str(file))

    assert first.output.splitlines()[-2] == f"acme-train: 5 nodes of train are rolled to {NEW}"
    promoted = f"{TRAIN}: 1 rollout group promoted to {NEW}"
    assert first.output.endswith(f"{promoted}, 1 remaining; next: jacquard preview laptop\n")
    assert again.output == f"{TRAIN}: this wave is already promoted, nothing to change\n"
    assert (unproven.exit_code, "there is no evidence that wave 1 is settled" in unproven.stderr) == (2, True)
    assert second.output.endswith(f"{promoted}; next: jacquard preview laptop\n")
    assert "rollouts:" not in lock(data_folder)
    assert invoke("check", "laptop", *TODAY).exit_code == 0


def test_the_plan_names_waves_groups_nodes_and_spares(invoke: Invoke, data_folder: Path) -> None:
    before = lock(data_folder)

    text = invoke(*TO, "--plan")
    data = json.loads(invoke(*TO, "--plan", "--format", "json").stdout)

    [old] = data["changes"]
    changes = {item["field"]: (item["before"], item["after"]) for item in data["changes"][old]}
    assert (changes["image"], changes["kubelet"]) == (("gpu-2026.10.2", NEW), ("v1.35.1", "v1.35.2"))
    assert [line.rstrip() for line in text.output.splitlines()] == [
        f"{old} -> {data['intent']}",
        *(f"  {field} {before} -> {after}" for field, (before, after) in changes.items()),
        "wave  rollout group  nodes  spares  replaced",
        "   1  a01                5       1  1 at a time, old nodes first: surge is 0",
        "   2  a02                5       1  1 at a time, old nodes first: surge is 0",
        f"{TRAIN}: 10 nodes to {NEW} in 2 waves, or all together with --all",
    ]
    how = "1 at a time, old nodes first: surge is 0"
    assert {key: value for key, value in data.items() if key not in {"changes", "templates"}} == {
        "pool": TRAIN,
        "version": NEW,
        "intent": data["intent"],
        "needs_waves": False,
        "waves": [
            {"number": number, "groups": [{"key": f"{TRAIN}/{name}", "nodes": 5, "spares": 1, "replacement": how}]}
            for number, name in ((1, "a01"), (2, "a02"))
        ],
    }
    assert lock(data_folder) == before


def test_an_invalid_pin_can_be_promoted_although_the_data_are_invalid(
    invoke: Invoke, data_folder: Path, edit: Callable[[Path, str, str], None]
) -> None:
    edit(data_folder / "catalog" / "images.yaml", "channel: [stable]", "channel: [candidate]")
    assert invoke("check", "laptop", *TODAY).exit_code == 2

    results = [
        invoke("promote", "laptop", f"acme-train/{pool}", "--to", NEW, "--all", *TODAY) for pool in ("train", "infer")
    ]

    assert [result.exit_code for result in results] == [0, 0]
    assert invoke("check", "laptop", *TODAY).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("acme-train/train", "--to", NEW, "--rollback"),
            "--to and --rollback exclude each other; write one of them for acme-train/train",
        ),
        (
            ("acme-train/train", "--to", NEW, "--evidence", "x.json"),
            "--evidence requires --wave N with N of at least 2; add --wave",
        ),
        (
            ("acme-train", "--to", "v1.35.2", "--plan", "--wave", "1"),
            "acme-train is a control plane; --plan, --wave are only for pools, such as acme-train/POOL",
        ),
        (
            ("acme-train", "--to", "v1.35.2", *TODAY),
            "acme-train is a control plane; --today is only for pools, such as acme-train/POOL",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    invoke: Invoke, data_folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = lock(data_folder)

    result = invoke("promote", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (2, f"error: {message}\n")
    assert lock(data_folder) == before


def test_missing_evidence_is_reported(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    invoke(*TO, "--wave", "1")
    file = tmp_path / "evidence.json"

    result = invoke(*TO, "--wave", "2", "--evidence", str(file))

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: --evidence {file}: no such file or directory;"
        " name a file with the output of 'jacquard status ENV --format json'\n"
    )
    assert "rollouts:" in lock(data_folder)


def test_a_file_that_is_no_status_is_refused(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    invoke(*TO, "--wave", "1")
    file = tmp_path / "evidence.json"
    file.write_text("[]")

    result = invoke(*TO, "--wave", "2", "--evidence", str(file))

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {file} is not an output of 'jacquard status ENV --format json': input")
    assert "rollouts:" in lock(data_folder)


FREEZE = """schema_version: 1
freezes:
  - {name: run-7, from: "2026-11-20T00:00:00Z", to: "2026-12-01T00:00:00Z", reason: a training run, tenants: [acme]}
"""


@pytest.mark.parametrize(
    ("promoted", "now", "tenants"),
    [
        ((TRAIN, "--to", NEW, "--all"), "2026-11-21T12:00:00Z", ["acme"]),
        ((TRAIN, "--to", NEW, "--all"), "2026-12-01T12:00:00Z", []),
        (("globex-lab/lab", "--newest-templates"), "2026-11-21T12:00:00Z", []),
    ],
    ids=["in the freeze", "after it", "another tenant"],
)
def test_a_promotion_in_a_freeze_reports_the_freeze(
    invoke: Invoke,
    data_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    promoted: tuple[str, ...],
    now: str,
    tenants: list[str],
) -> None:
    (data_folder / "laptop" / "policy.yaml").write_text(FREEZE, encoding="utf-8")
    monkeypatch.setenv("JACQUARD_NOW", now)

    result = invoke("promote", "laptop", *promoted)

    assert result.exit_code == 0, result.output
    notes = [
        f"note: {tenant}: 'up' refuses this change now: freeze run-7 until 2026-12-01T00:00:00+00:00: a training run;"
        " apply after 2026-12-01T00:00:00+00:00, or edit the freeze in environments/laptop/policy.yaml\n"
        for tenant in tenants
    ]
    assert result.stderr == "".join(notes)
