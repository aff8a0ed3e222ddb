"""``--metrics-file``: metrics of a run, for the textfile collector of node-exporter."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import Result

from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs import metrics
from jacquard.cli.runs.metrics import RunMetrics, measured
from jacquard.cli.verbs import drift as verb
from jacquard.observe.clusters_compared import drift
from tests.support.api_servers.fake_servers import fake_servers

Invoke = Callable[..., Result]
_LABELS = ("environment", "command", "operation")


@pytest.fixture
def servers(laptop: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """API servers of all clusters."""
    found = fake_servers(laptop)
    monkeypatch.setattr(verb, "compared", lambda spec: drift(spec, lambda _, cluster: found[cluster]))


def _samples(file: Path) -> dict[tuple[str, ...], float]:
    """Return the value of each series, by name and values of the labels."""
    families = text_string_to_metric_families(file.read_text(encoding="utf-8"))
    samples = (sample for family in families for sample in family.samples)
    return {
        (sample.name, *(sample.labels[label] for label in _LABELS if label in sample.labels)): sample.value
        for sample in samples
    }


def _end(failure: BaseException | None) -> None:
    if failure:
        raise failure


def _run(file: Path, failure: BaseException | None = None, **of: Any) -> dict[tuple[str, ...], float]:
    try:
        with measured(file, RunMetrics("up", "laptop", **of)) as run:
            run.changes(2, [Counter(create=3, update=1), Counter(create=2)])
            _end(failure)
    except BaseException as raised:
        if raised is not failure:
            raise
    return _samples(file)


def test_a_run_records_changes_stacks_duration_and_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "time", SimpleNamespace(monotonic=iter((10.0, 11.5)).__next__, time=time.time))
    found = _run(tmp_path / "up.prom")

    assert found["jacquard_run_changed_resources", "laptop", "up", "create"] == 5
    assert found["jacquard_run_changed_resources", "laptop", "up", "update"] == 1
    assert found["jacquard_run_stacks", "laptop", "up"] == 2
    assert found["jacquard_run_exit_code", "laptop", "up"] == 0
    assert found["jacquard_run_duration_seconds", "laptop", "up"] == 1.5
    ended = found["jacquard_run_end_time_seconds", "laptop", "up"]
    assert found["jacquard_run_last_success_time_seconds", "laptop", "up"] == ended


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Stop("x", ExitCode.WAITING), ExitCode.WAITING),
        (ValueError("x"), ExitCode.BUG),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
)
def test_a_failed_run_keeps_the_time_of_the_last_success(
    failure: BaseException, code: ExitCode, tmp_path: Path
) -> None:
    success = ("jacquard_run_last_success_time_seconds", "laptop", "up")
    first = _run(tmp_path / "up.prom")

    second = _run(tmp_path / "up.prom", failure)

    assert second["jacquard_run_exit_code", "laptop", "up"] == code
    assert second[success] == first[success]
    assert success not in _run(tmp_path / "other.prom", failure)


@pytest.mark.parametrize("content", ["no metrics {", 'jacquard_run_last_success_time_seconds{command="drift"} 1\n'])
def test_an_unreadable_file_or_one_of_another_command_has_no_last_success(content: str, tmp_path: Path) -> None:
    file = tmp_path / "up.prom"
    file.write_text(content, encoding="utf-8")

    assert ("jacquard_run_last_success_time_seconds", "laptop", "up") not in _run(file, Stop("x"))


def test_no_partial_file_remains(tmp_path: Path) -> None:
    _run(tmp_path / "up.prom")

    assert [file.name for file in tmp_path.iterdir()] == ["up.prom"]


@pytest.mark.usefixtures("servers")
def test_drift_counts_objects_and_is_a_success(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "drift.prom"

    assert invoke("drift", "laptop", "--metrics-file", str(file)).exit_code == 0

    found = _samples(file)
    assert found["jacquard_drift_objects", "laptop", "drift"] == 0
    assert found["jacquard_drift_unread_objects", "laptop", "drift"] == 0
    assert ("jacquard_run_last_success_time_seconds", "laptop", "drift") in found


@pytest.mark.parametrize("command", ["drift", "up"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("run.txt", "--metrics-file {}: node-exporter reads files with the suffix .prom; write run.prom"),
        ("none/run.prom", "--metrics-file {}: {} is not a directory; create it, or write the path of another one"),
    ],
)
def test_a_file_that_the_collector_would_not_read_is_refused(
    command: str, name: str, message: str, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / name

    result = invoke(command, "laptop", "--metrics-file", str(file))

    assert result.exit_code == ExitCode.BAD_DATA
    assert message.format(file, file.parent) in " ".join(result.stderr.split())


def test_up_records_its_exit_code_if_the_data_are_wrong(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "up.prom"

    assert invoke("up", "nowhere", "--metrics-file", str(file)).exit_code == ExitCode.BAD_DATA

    found = _samples(file)
    assert found["jacquard_run_exit_code", "nowhere", "up"] == ExitCode.BAD_DATA
    assert ("jacquard_run_last_success_time_seconds", "nowhere", "up") not in found
