"""Wait expressions: their evaluation, and the messages while they are not met."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jacquard.providers.kube import ApiError, ObjectRef, wait
from jacquard.providers.kube.jsonpath import JsonPathError, evaluate, parse
from jacquard.providers.kube.wait import (
    WaitCancelled,
    WaitExpressionError,
    WaitFailed,
    WaitTimeout,
    parse_wait_for,
    unmet,
    wait_for,
    wait_gone,
)

REF = ObjectRef("v1", "ConfigMap", "a", "n")
GONE = (404, {"reason": "NotFound", "message": "gone"})


def machine(**status: Any) -> dict[str, Any]:
    return {"metadata": {"generation": 3}, "status": status}


def ready(status: str, **more: Any) -> dict[str, Any]:
    return machine(conditions=[{"type": "Ready", "status": status, **more}])


@pytest.mark.parametrize(
    ("text", "obj", "missing"),
    [
        ("condition=Ready", ready("True"), []),
        ("condition=ready=true", ready("True"), []),
        ("condition=Ready=False", ready("False"), []),
        (
            "condition=Ready",
            ready("False", reason="Booting", message="power on"),
            ["condition=Ready: is False (Booting: power on)"],
        ),
        (
            "condition=Ready",
            ready("True", observedGeneration=2),
            ["condition=Ready: observed for generation 2 of 3"],
        ),
        (
            "condition=Ready",
            machine(observedGeneration=2, conditions=[{"type": "Ready", "status": "True"}]),
            ["condition=Ready: observed for generation 2 of 3"],
        ),
        ("condition=Ready", machine(conditions=None), ["condition=Ready: not reported yet"]),
        ("condition=Ready", {"metadata": {}}, ["condition=Ready: not reported yet"]),
        ("jsonpath={.status.phase}=Running", machine(phase="Running"), []),
        ("jsonpath={.status.phase}=Running", machine(phase="Off"), ["jsonpath={.status.phase}=Running: is Off"]),
        ("jsonpath={.status.replicas}=3", machine(replicas=3), []),
        ("jsonpath={.status.ready}=true", machine(), ["jsonpath={.status.ready}=true: is absent"]),
        ("jsonpath={.status.address}", machine(address="x"), []),
        ("jsonpath={.status.address}", machine(), ["jsonpath={.status.address}: no value yet"]),
        (
            '["condition=Ready", "jsonpath={.status.phase}=Up"]',
            machine(phase="Down"),
            ["condition=Ready: not reported yet", "jsonpath={.status.phase}=Up: is Down"],
        ),
    ],
)
def test_unmet_expressions_are_described(text: str, obj: dict[str, Any], missing: list[str]) -> None:
    assert unmet(obj, parse_wait_for(text)) == missing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Ready",
            "waitFor 'Ready' is not supported; write condition=TYPE, condition=TYPE=STATUS or jsonpath={.path}=VALUE",
        ),
        ("[1]", "waitFor '[1]' is not a JSON array of strings; write [\"condition=Ready\", ...]"),
        (
            "jsonpath={.a[}=b",
            "waitFor 'jsonpath={.a[}=b': JSONPath '.a[' is not supported from '[' on",
        ),
    ],
)
def test_expressions_that_cannot_be_read_are_quoted(text: str, message: str) -> None:
    with pytest.raises(WaitExpressionError) as error:
        parse_wait_for(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", [1]),
        ("$.a['b']", [1]),
        ('.a["x.y/z"]', [2]),
        (".l[0].v", [3]),
        (".l[-1].v", [4]),
        (".l[7]", []),
        (".l[*].v", [3, 4]),
        ('.l[?(@.k=="two")].v', [4]),
        (".l[?@.k=='one'].v", [3]),
        (".nothing.at.all", []),
    ],
)
def test_jsonpath_leads_to_values(path: str, found: list[int]) -> None:
    obj = {"a": {"b": 1, "x.y/z": 2}, "l": [{"k": "one", "v": 3}, {"k": "two", "v": 4}]}
    assert evaluate(parse(path), obj) == found


def test_an_empty_jsonpath_is_refused() -> None:
    with pytest.raises(JsonPathError, match=r"^JSONPath is empty$"):
        parse("$")


def test_waiting_ends_when_the_object_is_ready(script: Any) -> None:
    script.answers = [GONE, (200, ready("False")), (200, ready("True"))]
    found = wait_for(script.api(), REF, parse_wait_for("condition=Ready"), timeout_seconds=5)
    assert found == ready("True")


def test_a_timeout_names_the_object_and_the_unmet_expression(script: Any) -> None:
    script.answers = [(200, ready("False"))]
    with pytest.raises(WaitTimeout) as error:
        wait_for(script.api(), REF, parse_wait_for("condition=Ready"), timeout_seconds=0)
    assert str(error.value) == "ConfigMap n/a: not ready after 0 s: condition=Ready: is False"
    assert error.value.last == ready("False")


def job(*conditions: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"generation": 1}, "status": {"conditions": list(conditions)}}


BATCH = (200, {"resources": [{"name": "jobs", "kind": "Job", "namespaced": True}]})
FAILED = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached its limit"}


def test_a_wait_for_a_job_ends_with_its_failure(script: Any) -> None:
    ref = ObjectRef("batch/v1", "Job", "a", "n")
    script.answers = [BATCH, GONE, (200, job()), (200, job({"type": "FailureTarget", "status": "True"}, FAILED))]

    with pytest.raises(WaitFailed) as error:
        wait_for(script.api(), ref, parse_wait_for("condition=Complete"), timeout_seconds=60)

    assert str(error.value) == "Job n/a: failed: BackoffLimitExceeded: Job has reached its limit"
    assert error.value.unmet == ["condition=Complete: not reported yet"]


def test_a_wait_for_the_failure_of_a_job_succeeds(script: Any) -> None:
    script.answers = [BATCH, (200, job(FAILED))]
    ref = ObjectRef("batch/v1", "Job", "a", "n")
    assert wait_for(script.api(), ref, parse_wait_for("condition=Failed"), timeout_seconds=60) == job(FAILED)


def test_another_kind_can_recover_from_a_failure(script: Any) -> None:
    script.answers = [(200, job(FAILED)), (200, ready("True"))]
    assert wait_for(script.api(), REF, parse_wait_for("condition=Ready"), timeout_seconds=60) == ready("True")


def test_a_cancelled_wait_ends_immediately(script: Any) -> None:
    cancelled = threading.Event()
    cancelled.set()
    script.answers = [GONE]
    with pytest.raises(WaitCancelled, match=r"^ConfigMap n/a: waiting was cancelled with the run: "):
        wait_for(script.api(), REF, (), timeout_seconds=5, cancelled=cancelled)


def test_a_wait_bears_a_server_that_restarts(script: Any) -> None:
    script.answers = [(503, "not now"), (200, ready("False")), (500, "etcd has no leader"), (200, ready("True"))]
    found = wait_for(script.api(), REF, parse_wait_for("condition=Ready"), timeout_seconds=5)
    assert found == ready("True")


@pytest.mark.parametrize(
    ("answer", "seconds", "text"),
    [((503, "not now"), 0.0, "not now (503 NoStatus)"), ((403, "not you"), 9.0, "not you (403 NoStatus)")],
)
def test_a_wait_ends_with_an_outage_that_lasts_or_a_refusal(
    script: Any, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, str], seconds: float, text: str
) -> None:
    monkeypatch.setattr(wait, "OUTAGE_SECONDS", seconds)
    script.answers = [answer]
    with pytest.raises(ApiError) as error:
        wait_for(script.api(), REF, parse_wait_for("condition=Ready"), timeout_seconds=5)
    assert str(error.value) == text


def test_an_object_is_deleted_when_another_has_its_name(script: Any) -> None:
    script.answers = [(200, {"metadata": {"uid": "old"}}), (200, {"metadata": {"uid": "new"}})]
    wait_gone(script.api(), REF, uid="old", timeout_seconds=5)
    assert len(script.asked) == 2


def test_a_deletion_that_hangs_names_the_finalizers(script: Any) -> None:
    script.answers = [(200, {"metadata": {"uid": "u", "finalizers": ["a.io/x", "b.io/y"]}})]
    with pytest.raises(WaitTimeout) as error:
        wait_gone(script.api(), REF, uid="u", timeout_seconds=0)
    assert str(error.value) == "ConfigMap n/a: not deleted after 0 s: deletion is blocked by a.io/x, b.io/y"
