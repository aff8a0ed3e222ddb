"""kwok is triggered again until it executes every stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal import stage_coverage
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.providers.kube import ObjectRef

LATE = "failed to get openapi spec: GroupVersion (v1) not found as OpenAPI V3 path"


def stage(kind: str) -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": f"{kind.lower()}-ready"},
        "spec": {"resourceRef": {"apiGroup": "v1", "kind": kind}},
    }


STAGES = [stage("Pod"), stage("Node"), stage("Node")]


def log_line(kind: str, err: str = "") -> str:
    message = {"msg": "failed to start controller", "err": err} if err else {"msg": "Start stage controller"}
    return json.dumps({"level": "INFO", **message, "ref": {"APIGroup": "v1", "Kind": kind}}) + "\n"


class Api:
    """An API server whose kwok writes a configured text to its log for each change of a Stage."""

    def __init__(self, log: Path, *answers: str) -> None:
        self.log = log
        self.answers = list(answers)
        self.touched: list[str] = []

    def patch(self, ref: ObjectRef, patch: Any, **_: Any) -> None:
        assert list(patch["metadata"]["annotations"]) == [stage_coverage.MARK]
        self.touched.append(ref.name)
        with self.log.open("a") as log:
            log.write(self.answers.pop(0))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "kwok-controller.log"


def test_a_kind_whose_document_came_late_is_played_after_another_look(log: Path) -> None:
    log.write_text(log_line("Node", LATE) + log_line("Pod"))
    api = Api(log, log_line("Node", LATE), log_line("Node"))

    stage_coverage.ensure(api, STAGES, log)  # type: ignore[arg-type]  # what it uses of an ApiServer

    assert api.touched == ["pod-ready", "pod-ready"]


def test_nothing_is_touched_when_all_is_played(log: Path) -> None:
    log.write_text(
        "not a line of kwok's\n" + log_line("Node") + log_line("Pod") + '{"msg":"Start stage controller","re'
    )
    api = Api(log)

    stage_coverage.ensure(api, STAGES, log)  # type: ignore[arg-type]  # what it uses of an ApiServer

    assert api.touched == []


def test_a_stage_that_is_never_executed_is_named_with_the_reason(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_coverage, "_PATIENCE_SECONDS", 0.5)
    log.write_text(log_line("Node", LATE))

    with pytest.raises(RehearsalError) as caught:
        stage_coverage.ensure(Api(log, ""), STAGES, log)  # type: ignore[arg-type]  # what it uses of an ApiServer

    assert str(caught.value) == (
        f"kwok does not run the stages of Node ({LATE}); Pod (no reason given) after 0.5 s; see {log}"
    )


def test_logs_of_an_earlier_process_are_ignored(log: Path) -> None:
    log.write_text(log_line("Node") + log_line("Pod"))

    stage_coverage.set_aside(log)
    log.write_text(log_line("Node", LATE))
    api = Api(log, log_line("Node") + log_line("Pod"))
    stage_coverage.ensure(api, STAGES, log)  # type: ignore[arg-type]  # what it uses of an ApiServer

    assert api.touched == ["pod-ready"]
    assert log.with_name("kwok-controller.before.log").read_text() == log_line("Node") + log_line("Pod")


def test_the_first_process_has_nothing_to_set_aside(log: Path) -> None:
    stage_coverage.set_aside(log)

    assert not log.exists()
