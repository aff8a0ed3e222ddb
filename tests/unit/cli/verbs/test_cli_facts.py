"""``jacquard facts``, and the use of facts in ``jacquard impact``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs import facts as verb
from jacquard.machine import paths
from jacquard.observe.facts import Facts
from jacquard.observe.observation import Observation
from tests.support.data.repositories import committed
from tests.support.monitoring.fake_metrics_store import Answer, Form, series, serving
from tests.support.objects.working_nodes import MOMENT, working

Invoke = Callable[..., Result]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Observation], None]:
    """Set the responses of the clusters."""
    return lambda seen: monkeypatch.setattr(verb, "observe", lambda *_, **__: seen)


def test_facts_are_written_and_an_impact_reads_them(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(data_folder)
    answered(working())
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T16:12:00Z")
    file = data_folder.parent / "facts.json"

    taken = invoke("facts", "laptop", "--out", str(file))
    again = invoke("facts", "laptop", "--out", str(file))
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    result = invoke("impact", "laptop", "--facts", str(file))

    assert (taken.exit_code, again.exit_code) == (0, 0)
    assert taken.stdout == "laptop: 2 of 4 nodes occupied by 3 pods on 16 GPUs, as of 2026-11-22 16:00 UTC\n"
    estimate = "occupied by jobs (estimate from facts of 2026-11-22 16:00 UTC, 12 minutes old)"
    lines = [line.split() for line in result.stdout.splitlines()]
    assert result.stdout.splitlines()[3] == f"  {estimate}: acme 2 nodes with 3 pods on 16 GPUs"
    assert [lines[5][-1], lines[6][-1]] == ["occupied", "2"]


def test_outdated_facts_are_ignored_with_a_note(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(data_folder)
    answered(working())
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T18:00:00Z")
    file = data_folder.parent / "facts.json"
    invoke("facts", "laptop", "--out", str(file))

    result = invoke("impact", "laptop", "--facts", str(file))
    longer = invoke("impact", "laptop", "--facts", str(file), "--facts-age", "120")

    why = "facts are dated 2026-11-22 16:00 UTC, more than 60 minutes ago; collect new ones"
    warning = f"warning: laptop: {why}; until then it is unknown which nodes are occupied or have faults\n"
    assert (result.exit_code, result.stderr) == (0, warning)
    assert (longer.exit_code, longer.stderr) == (0, "")


def test_an_impact_only_accepts_facts(data_folder: Path, invoke: Invoke) -> None:
    file = data_folder / "laptop" / "region.yaml"

    result = invoke("impact", "laptop", "--facts", str(file))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        f"error: {file}: is not a file written by 'jacquard facts': invalid json: expected value at line 1 column 1\n"
    )


def test_a_cluster_that_does_not_answer_is_named(answered: Callable[[Observation], None], invoke: Invoke) -> None:
    answered(working(unreachable={"globex-lab": "no route"}))

    result = invoke("facts", "laptop")

    assert result.exit_code == 0
    assert result.stderr == "warning: cluster globex-lab cannot be read and is omitted: no route\n"
    assert Facts.model_validate_json(result.stdout).clusters[2].unreachable == "no route"


def test_without_any_cluster_there_are_no_facts(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke
) -> None:
    answered(working(unreachable=dict.fromkeys(("management", "acme-train", "globex-lab"), "no route")))
    file = data_folder.parent / "facts.json"

    result = invoke("facts", "laptop", "--out", str(file))

    assert (result.exit_code, file.exists()) == (ExitCode.UNREACHABLE, False)
    assert result.stderr.splitlines()[-1] == "unreachable: laptop: no cluster can be read, so there are no facts"


def test_the_schema_matches_written_files(answered: Callable[[Observation], None], invoke: Invoke) -> None:
    answered(working())
    schema = json.loads((paths.ROOT / "schemas" / "facts.schema.json").read_text(encoding="utf-8"))

    jsonschema.validate(json.loads(invoke("facts", "laptop").stdout), schema)


GPU_LOST = 'kube_node_status_condition{condition="GpuLost",status="true"}'
ON_NODES = GPU_LOST.replace("}", ',node=~"x1|x2[.]b"}')


def of_gpus(path: str, form: Form) -> Answer:
    """Respond as a store with two days of a cluster, other clusters, and labels that are not node names."""
    minute = int(MOMENT.timestamp())
    match path.rpartition("/")[2], form["query"]:
        case "query", query if query == f"count_over_time(count by (cluster) ({GPU_LOST})[168h:1h])":
            return series(({"cluster": "acme-train"}, 49), ({"cluster": "edge"}, 169))
        case "query", query if query == f"max by (cluster, node) (max_over_time({GPU_LOST}[168h])) == 1":
            nodes = ("x1", "x2.b", '"} or up{a="', "X")
            found = [({"cluster": "acme-train", "node": node}, 1) for node in nodes]
            return series(*found, ({"cluster": "edge", "node": "x1"}, 1), ({}, 1))
        case "query_range", query if query == f"max by (cluster, node) ({ON_NODES}) == 1":
            steps = [minute - 60 * step for step in (1, 2, 3, 8, 9)]
            return series(({"cluster": "acme-train", "node": "x1"}, steps), kind="matrix")
        case _:
            return series()


def test_the_history_of_faults_is_read_from_the_metrics_store(
    answered: Callable[[Observation], None], invoke: Invoke
) -> None:
    answered(working())

    with serving(of_gpus) as url:
        result = invoke("facts", "laptop", "--metrics", url)

    history = Facts.model_validate_json(result.stdout).history
    assert history is not None
    assert [entry.model_dump() for entry in history.coverage] == [
        {"cluster": "acme-train", "condition": "GpuLost", "hours": 49}
    ]
    assert [(fault.node, fault.longest_seconds) for fault in history.faults] == [("x1", 180), ("x2.b", 0)]
    assert result.stderr == (
        "warning: the metrics store has 49 of the last 168 hours of cluster acme-train; earlier faults are missing in "
        "the history\n"
        "warning: the metrics store has 0 of the last 168 hours of cluster globex-lab; earlier faults are missing in "
        "the history\n"
    )


def test_the_summary_has_the_number_of_nodes_with_faults(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke
) -> None:
    answered(working())

    with serving(of_gpus) as url:
        result = invoke("facts", "laptop", "--metrics", url, "--out", str(data_folder.parent / "facts.json"))

    assert result.stdout.endswith(", as of 2026-11-22 16:00 UTC; 2 nodes with faults in 7 days\n")


def test_without_an_answer_of_the_metrics_store_nothing_is_written(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke
) -> None:
    answered(working())
    file = data_folder.parent / "facts.json"

    with serving(lambda *_: (401, "")) as url:
        result = invoke("facts", "laptop", "--metrics", url, "--out", str(file))

    assert (result.exit_code, file.exists()) == (ExitCode.UNREACHABLE, False)
    assert result.stderr == (
        f"unreachable: laptop: the metrics store at {url} answered 401; set JACQUARD_METRICS_USER and "
        "JACQUARD_METRICS_PASSWORD to a login that may query all clusters\n"
    )


def test_a_login_is_complete(
    answered: Callable[[Observation], None], invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(working())
    monkeypatch.setenv("JACQUARD_METRICS_USER", "operator")

    result = invoke("facts", "laptop", "--metrics", "http://127.0.0.1:1")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        "error: JACQUARD_METRICS_USER: must be set together with JACQUARD_METRICS_PASSWORD; set both or none\n"
    )


def test_a_changed_check_is_reported_with_the_nodes_on_which_it_would_have_acted(
    answered: Callable[[Observation], None], data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(data_folder)
    answered(working())
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T16:12:00Z")
    file, health = data_folder.parent / "facts.json", data_folder / "catalog" / "health.yaml"
    override = "  - {check: gpu-lost, hold_seconds: 120, reason: trial}\n"
    with serving(of_gpus) as url:
        invoke("facts", "laptop", "--metrics", url, "--out", str(file))
    text = health.read_text(encoding="utf-8")
    health.write_text(text + override, encoding="utf-8")

    printed = invoke("impact", "laptop", "--facts", str(file)).stdout.splitlines()
    answer = json.loads(invoke("impact", "laptop", "--facts", str(file), "--format", "json").stdout)
    comment = invoke("impact", "laptop", "--facts", str(file), "--format", "markdown").stdout

    change = "check gpu-lost of h100-ib-8: repair after 5 min -> repair after 2 min"
    acted = "in the 7 days until 2026-11-22 16:00 UTC it would have acted on 1 node instead of 0"
    assert f"  {change}; now 0 nodes with the fault, 0 due; {acted}" in printed
    assert [(check["check"], len(check["nodes"])) for check in answer[0]["checks"]] == [("gpu-lost", 3)]
    assert acted in comment.replace("`", "")
    assert "<summary>laptop: changed checks of nodes</summary>" in comment.replace("`", "")
