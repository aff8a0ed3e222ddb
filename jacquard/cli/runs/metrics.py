"""Metrics of one run of a command, in a file for the textfile collector of node-exporter.

The collector reads files with the suffix ``.prom`` and must not read a half-written one
(NE:collector/textfile.go), so that the file is replaced at once. Each run replaces the series of the run before, except
the time of the last success.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jacquard.cli.errors import ExitCode, Stop, known

_SUFFIX = ".prom"
_LAST_SUCCESS = "jacquard_run_last_success_time_seconds"
_HELP = {
    "jacquard_run_end_time_seconds": "Unix time at which the last run ended.",
    _LAST_SUCCESS: "Unix time at which the last successful run ended.",
    "jacquard_run_duration_seconds": "Duration of the last run.",
    "jacquard_run_exit_code": "Exit code of the last run.",
    "jacquard_run_stacks": "Stacks of the last run.",
    "jacquard_run_changed_resources": "Resources that the last run changed, by operation.",
    "jacquard_drift_objects": "Objects that differ from the data.",
    "jacquard_drift_unread_objects": "Objects, kinds and clusters that could not be read.",
}
"""Help by name of the metric. The same in all files, as the collector requires."""


@dataclass(slots=True)
class RunMetrics:
    """Metrics of a running command."""

    command: str
    environment: str
    successes: frozenset[ExitCode] = frozenset({ExitCode.OK})
    """Exit codes of a run that reached its end."""
    values: list[tuple[str, Mapping[str, str], float]] = field(default_factory=list)
    """Name, further labels and value of each series."""

    def set(self, name: str, value: float, **labels: str) -> None:
        """Append the series ``name`` with further ``labels``."""
        self.values.append((name, labels, value))

    def changes(self, stacks: int, counted: Iterable[Mapping[str, int]]) -> None:
        """Append the number of stacks and, by operation, of the resources that each of them changed."""
        self.set("jacquard_run_stacks", stacks)
        operations = Counter[str]()
        for changes in counted:
            operations.update(changes)
        for operation, number in operations.items():
            self.set("jacquard_run_changed_resources", number, operation=operation)


@contextmanager
def measured(file: Path | None, metrics: RunMetrics) -> Iterator[RunMetrics]:
    """Write the metrics of the run to ``file`` when it ends, also after a failure; nothing without a file.

    Raises:
        Stop: the file has another suffix, or its folder does not exist.
    """
    if file is None:
        yield metrics
        return
    _check(file)
    started, code = time.monotonic(), ExitCode.OK
    try:
        yield metrics
    except BaseException as failure:
        code = _code(failure)
        raise
    finally:
        metrics.set("jacquard_run_duration_seconds", time.monotonic() - started)
        metrics.set("jacquard_run_exit_code", code)
        _write(file, metrics, code, time.time())


def _check(file: Path) -> None:
    if file.suffix != _SUFFIX:
        msg = f"--metrics-file {file}: node-exporter reads files with the suffix {_SUFFIX}; write {file.stem}{_SUFFIX}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if not file.parent.is_dir():
        msg = f"--metrics-file {file}: {file.parent} is not a directory; create it, or write the path of another one"
        raise Stop(msg, ExitCode.BAD_DATA)


def _code(failure: BaseException) -> ExitCode:
    if isinstance(failure, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    stop = known(failure) if isinstance(failure, Exception) else None
    return stop.code if stop else ExitCode.BUG


def _write(file: Path, metrics: RunMetrics, code: ExitCode, now: float) -> None:
    from prometheus_client import CollectorRegistry, Gauge, write_to_textfile  # noqa: PLC0415 - only with the option

    common = {"environment": metrics.environment, "command": metrics.command}
    metrics.set("jacquard_run_end_time_seconds", now)
    success = now if code in metrics.successes else _last_success(file, common)
    if success is not None:
        metrics.set(_LAST_SUCCESS, success)
    registry, gauges = CollectorRegistry(), dict[str, Gauge]()
    for name, labels, value in metrics.values:
        every = {**common, **labels}
        gauge = gauges.get(name) or Gauge(name, _HELP[name], list(every), registry=registry)
        gauges[name] = gauge
        gauge.labels(**every).set(value)
    write_to_textfile(str(file), registry)


def _last_success(file: Path, labels: Mapping[str, str]) -> float | None:
    """Return the time of the last success in ``file``; None without one, or if the file is not readable as metrics."""
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - only with the option

    try:
        families = list(text_string_to_metric_families(file.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None
    samples = (sample for family in families for sample in family.samples if sample.name == _LAST_SUCCESS)
    return next((sample.value for sample in samples if sample.labels == labels), None)
