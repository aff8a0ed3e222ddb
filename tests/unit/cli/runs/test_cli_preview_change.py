"""``jacquard preview --base``: the previewed stacks, the written files, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import Result

from components.specs.reading import schema
from jacquard.cli.errors import ExitCode
from jacquard.previews.results import PreviewAnswer
from tests.support.changes import planned_steps
from tests.support.data.repositories import COMMIT, committed, git
from tests.support.docs.strict_html import page
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
LABELS = "labels: {workload: training}"
GATE = "stack toy has 1 missing prerequisite"


@pytest.fixture
def labelled(data_folder: Path, edit: Edit) -> Path:
    """A repository with an uncommitted label of a pool."""
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", LABELS, "labels: {workload: training, stage: two}")
    return data_folder


def reported(result: Result) -> dict[str, Any]:
    [found] = json.loads(result.stdout)
    return dict(found)


def test_without_rendered_differences_the_engine_is_not_started(
    data_folder: Path, invoke: Invoke, pulumi: FakePulumi, edit: Edit
) -> None:
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "tenant: acme\n", "tenant: acme   # a comment\n")

    result = invoke("preview", "laptop", "--base", "HEAD")

    assert (result.exit_code, pulumi.calls) == (ExitCode.OK, [])
    assert result.stdout.splitlines()[-4:] == [
        "laptop: skipped, base and head render the same objects",
        "",
        "laptop: safe",
        "  unchanged: nothing to apply",
    ]


def test_only_slices_with_differences_are_previewed(data_folder: Path, invoke: Invoke, pulumi: FakePulumi) -> None:
    region = data_folder / "laptop" / "region.yaml"
    text = region.read_text()
    region.write_text(
        text.replace("stacks: whole", "stacks: sliced") if "stacks:" in text else f"{text}stacks: sliced\n"
    )
    committed(data_folder)
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().replace(LABELS, "labels: {workload: training, stage: two}"))
    pulumi.answer("preview", events="change")

    found = reported(invoke("preview", "laptop", "--base", "HEAD", "--format", "json"))

    outcomes = {one["stack"]: one["outcome"] for one in found["stacks"] if one["outcome"] != "same objects"}
    assert outcomes == {"laptop.tenant-acme": "changed"}
    asked = {call[call.index("--stack") + 1] for call in pulumi.calls if "--stack" in call}
    assert asked == {"laptop.tenant-acme"}


@pytest.mark.usefixtures("labelled")
def test_changes_and_drift_are_reported_separately(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("preview", events="change")

    result = invoke("preview", "laptop", "--base", "HEAD", "--format", "json")

    assert result.exit_code == ExitCode.OK, result.output
    [stack] = reported(result)["stacks"]
    assert (stack["outcome"], stack["operations"], stack["reason"]) == ("changed", {"update": 2}, None)
    found = {(one["origin"], one["kind"]): one for one in stack["changes"]}
    group = "cluster.x-k8s.io/MachineDeployment"
    changed = found["change", group]
    assert changed["names"] == [f"management/acme-train/acme-train-train-{domain}" for domain in ("a01", "a02")]
    label = "spec.template.metadata.labels[node.cluster.x-k8s.io/stage]"
    assert changed["fields"] == [{"path": label, "old": None, "new": '"two"'}]
    assert found["drift", group]["fields"] == [
        {"path": "metadata.labels[jacquard.dev/tenant]", "old": '"mallory"', "new": '"acme"'},
        {"path": "spec.template.spec.deletion.nodeDrainTimeoutSeconds", "old": "77", "new": "3600"},
    ]
    assert found["drift", "metal3.io/BareMetalHost"]["names"] == ["management/acme-train/a01-u01"]
    assert len(found) == 3


@pytest.mark.usefixtures("labelled")
def test_after_detected_drift_the_preview_runs_once_more(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("preview", events="change")
    invoke("preview", "laptop", "--base", "HEAD")

    assert ["--refresh" in call for call in pulumi.calls if call[0] == "preview"] == [True, False]


@pytest.mark.usefixtures("labelled")
def test_a_failed_stack_is_reported_in_addition_to_the_others(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("preview", events="fail", code=255)

    result = invoke("preview", "laptop", "--base", "HEAD", "--format", "json")

    assert result.exit_code == ExitCode.FAILED
    found = reported(result)
    assert found["verdict"] == "blocked"
    [stack] = found["stacks"]
    assert stack["outcome"] == "failed"
    assert found["blocked_by"] == [f"the preview of laptop failed: {stack['reason'].splitlines()[0]}"]
    assert found["impact"]["rows"]


@pytest.mark.usefixtures("labelled")
def test_all_runs_end_in_order_when_interrupted(invoke: Invoke, pulumi: FakePulumi, tmp_path: Path) -> None:
    pulumi.answer("preview", waits=True)
    pulumi.terminate_caller()

    result = invoke("preview", "laptop", "--base", "HEAD", "--out", str(tmp_path / "out"))

    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.count("interrupted: stopping after the current operations, which are recorded") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("labelled", "pulumi")
def test_without_an_engine_all_other_results_are_reported(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jacquard.lab.toolchain.environment.process", lambda *_, **__: {"PATH": ""})

    result = invoke("preview", "laptop", "--base", "HEAD", "--format", "json")

    assert result.exit_code == ExitCode.FAILED
    [stack] = reported(result)["stacks"]
    assert stack["reason"].startswith("'pulumi' is not installed for this project")


@pytest.mark.parametrize(
    ("events", "outcome", "code"), [("refused", "refused", ExitCode.REFUSED), ("gate", "waiting", ExitCode.WAITING)]
)
@pytest.mark.usefixtures("labelled")
def test_the_result_of_a_run_is_reported_and_sets_the_exit_code(
    invoke: Invoke, pulumi: FakePulumi, events: str, outcome: str, code: ExitCode
) -> None:
    pulumi.answer("preview", events=events, code=255)

    result = invoke("preview", "laptop", "--base", "HEAD", "--format", "json")

    assert result.exit_code == code
    [stack] = reported(result)["stacks"]
    assert stack["outcome"] == outcome


@pytest.mark.usefixtures("labelled")
def test_violations_found_by_the_engine_only_are_included(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("preview", events="refused", code=255)

    found = reported(invoke("preview", "laptop", "--base", "HEAD", "--format", "json"))

    assert [
        (one["rule"], one["standing"], one["found"], one["fix"])
        for one in found["offences"]
        if one["standing"] != "waived"
    ] == [("forbidden-word", "told", "forbidden", "say something else")]
    assert found["blocked_by"] == ["refused by forbidden-word"]


@pytest.mark.usefixtures("labelled")
def test_out_contains_the_result_in_all_formats_with_equal_bytes_each_time(
    invoke: Invoke, pulumi: FakePulumi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T12:00:00Z")  # The statement contains the time.
    pulumi.answer("preview", events="change")
    out = tmp_path / "out"
    command = ("preview", "laptop", "--base", "HEAD", "--out", str(out))
    first = invoke(*command)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    second = invoke(*command)

    assert (first.exit_code, second.exit_code) == (ExitCode.OK, ExitCode.OK), first.output
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    files = ("attestation.json", "comment.md", "junit.xml", "preview.json", "preview.sarif", "report.html")
    assert set(before) == {".jacquard-preview.json", *files}
    [found] = json.loads(before["preview.json"])
    assert PreviewAnswer.model_validate(found).environment == "laptop"
    assert set(found) == set(schema.model_schema(PreviewAnswer)["properties"])
    stacks = page(before["report.html"].decode()).by_id("e0-diff").all("summary")
    assert [stack.text for stack in stacks] == ["laptop changed, 2 to update"]
    [run] = json.loads(before["preview.sarif"])["runs"]
    assert run["automationDetails"] == {"id": "jacquard-preview/"}
    suite = ET.fromstring(before["junit.xml"]).find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    assert {case.get("name") for case in suite} == {"laptop", "approvals", "networks.unfiltered-hosts"}


@pytest.mark.usefixtures("labelled")
def test_out_never_overwrites_foreign_files(invoke: Invoke, pulumi: FakePulumi, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("x")

    result = invoke("preview", "laptop", "--base", "HEAD", "--out", str(tmp_path / "out"))

    assert (result.exit_code, pulumi.calls) == (ExitCode.BAD_DATA, [])
    assert "is not empty and not written by 'jacquard preview'" in result.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


@pytest.mark.usefixtures("data_folder")
def test_out_without_a_base_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("preview", "laptop", "--out", str(tmp_path / "out"))

    assert result.exit_code == ExitCode.BAD_DATA
    assert "--out requires --base; add --base REF" in result.output


def test_a_required_approval_is_reported(data_folder: Path, invoke: Invoke, pulumi: FakePulumi) -> None:
    committed(data_folder)
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    git(data_folder.parent, "add", "environments")
    git(data_folder.parent, *COMMIT)
    pulumi.answer("preview", events="preview")

    found = reported(invoke("preview", "laptop", "--base", "HEAD~1", "--format", "json"))

    assert (found["verdict"], found["approvals_missing"]) == ("needs approval", ["acme"])


CANARY = "c4nary-in-a-secret"


@pytest.mark.usefixtures("labelled")
def test_no_output_contains_the_content_of_a_secret(
    invoke: Invoke, pulumi: FakePulumi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urn = "urn:pulumi:laptop::jacquard::kubernetes:core/v1:Secret::s"
    side = {"provider": "urn:pulumi:laptop::jacquard::pulumi:providers:kubernetes::management::id"}
    was = planned_steps.inputs("Secret", "s", namespace="n", stringData={"k": CANARY})
    will = planned_steps.inputs("Secret", "s", namespace="n", stringData={"k": "another"})
    step = {"op": "update", "urn": urn, "old": {**side, "inputs": was}, "new": {**side, "inputs": will}}
    message = f"refused: {CANARY} of https://me:{CANARY}@x.example and password={CANARY}"
    events = [
        {"resOutputsEvent": {"metadata": step, "planning": True}},
        {"diagnosticEvent": {"severity": "error", "urn": urn, "message": message}},
        {"diagnosticEvent": {"severity": "warning", "message": message}},
        {"policyEvent": {"policyName": "p", "enforcementLevel": "mandatory", "resourceUrn": urn, "message": message}},
    ]
    (tmp_path / "canary.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    monkeypatch.setattr("tests.support.engine.fake_pulumi.RECORDED", tmp_path)
    pulumi.answer("preview", events="canary", code=255)
    out = tmp_path / "out"

    shown = invoke("preview", "laptop", "--base", "HEAD", "--out", str(out))
    written = [path.read_text() for path in out.iterdir()]

    assert shown.exit_code == ExitCode.REFUSED, shown.output
    assert "stringData.k: [secret]" in shown.output
    assert [text for text in (shown.output, *written) if CANARY in text] == []
