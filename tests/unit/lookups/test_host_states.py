"""Table of host states: complete, consistent, and with a rejection of each transition that it does not contain."""

from __future__ import annotations

import datetime as dt
from itertools import product
from pathlib import Path

import pytest

from components.lookups.host_states.table import FOLDER, LifecycleState, deadline, host_states, read_table, refusal
from components.specs.hosts.out_of_service import PRODUCTION, HostState, OutOfServiceFile
from components.specs.reading.problems import SpecError
from components.specs.reading.schema import model_schema
from tests.support.data.small_region import changed, faults, small_region

ALLOWED = {
    "onboard": "seatrial triage",
    "seatrial": "zap triage",
    "zap": "test triage",
    "test": "production triage",
    "production": "triage zap test reserved onboard",
    "triage": "rma debug zap test",
    "rma": "onboard triage",
    "debug": "onboard rma triage",
    "reserved": "production test onboard triage",
}


def test_all_transitions_are_decided() -> None:
    allowed = {
        (old, new) for old, new in product(LifecycleState, LifecycleState) if old != new and not refusal(old, new)
    }

    assert allowed == {(old, new) for old, names in ALLOWED.items() for new in names.split()}


def test_the_states_are_those_of_the_data_and_production() -> None:
    assert {*LifecycleState} == {*HostState, PRODUCTION}


def test_each_fault_can_be_recorded_in_each_state() -> None:
    assert [state for state in LifecycleState if refusal(state, LifecycleState.TRIAGE)] == ["triage"]


def test_each_state_has_the_meaning_of_the_reference_page() -> None:
    documented = model_schema(OutOfServiceFile)["definitions"]["HostState"]
    texts = dict(zip(documented["enum"], documented["enumDescriptions"], strict=True))

    assert texts == {state: row.meaning for state, row in host_states().items() if state != PRODUCTION}


def test_a_refusal_names_the_condition_and_the_allowed_states() -> None:
    assert refusal(LifecycleState.RMA, LifecycleState.PRODUCTION) == (
        "production does not follow rma: only burn-in and the end of a reservation lead to it; write onboard or triage"
    )


@pytest.mark.parametrize(
    ("state", "due"), [("zap", "2026-01-02 06:00"), ("rma", "2026-02-01 00:00"), ("test", "2026-01-04 00:00")]
)
def test_hours_count_from_the_end_of_the_day_of_the_transition(state: str, due: str) -> None:
    host = small_region().hosts[0].host
    entry = faults(host)[host].model_copy(update={"state": HostState(state)})
    region = changed(small_region(), out_of_service={host: entry})

    assert deadline(region, host) == dt.datetime.fromisoformat(f"{due}+00:00")
    assert deadline(small_region(), host) is None


EDITS = {
    "  rma:\n": ("  rna:\n", "states.rna: must be one of"),
    "next: [seatrial, triage]": ("next: [seatrail, triage]", "states.onboard.next[0]: must be one of"),
    "    evidence_hours: 168\n    netbox: staged": (
        "    netbox: staged",
        "states.yaml  test needs evidence_hours if production follows, and only then",
    ),
    "    deadline_hours: 6\n": ("", "states.zap.deadline_reason: requires deadline_hours and deadline_reason together"),
}


@pytest.mark.parametrize("old", EDITS)
def test_a_wrong_row_is_reported(tmp_path: Path, old: str) -> None:
    new, text = EDITS[old]
    table = (FOLDER / "states.yaml").read_text(encoding="utf-8")
    assert table.count(old) == 1
    (tmp_path / "states.yaml").write_text(table.replace(old, new), encoding="utf-8")

    with pytest.raises(SpecError) as caught:
        read_table(tmp_path)

    assert text in str(caught.value)


def test_the_table_of_the_library_is_the_valid_one() -> None:
    assert read_table(FOLDER) == host_states()
