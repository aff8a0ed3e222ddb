"""Number of parallel engines: derived from the machine, or set by the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.engine import parallelism
from jacquard.machine.errors import SettingError

ONE = parallelism.RUN_BYTES


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 8 cores with memory for 5 runs, without a container; a test may add one."""
    monkeypatch.setattr(parallelism, "_cores", lambda: 8)
    monkeypatch.setattr(parallelism, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(parallelism, "_GROUP", tmp_path)
    free(tmp_path, 5 * ONE)
    return tmp_path


def free(machine: Path, memory: int) -> None:
    (machine / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemFree: 10 kB\nMemAvailable: {memory // 1024} kB\n")


@pytest.mark.parametrize(("runs", "expected"), [(5, 5), (0.5, 1), (100, 8)])
def test_memory_and_cores_limit_parallel_runs_and_one_is_always_permitted(
    machine: Path, runs: float, expected: int
) -> None:
    free(machine, int(runs * ONE))

    assert parallelism.at_once() == expected


@pytest.mark.parametrize(("limit", "expected"), [(str(4 * ONE), 3), ("max", 5), (str(ONE // 2), 1)])
def test_a_container_may_use_less_than_the_machine_has(machine: Path, limit: str, expected: int) -> None:
    (machine / "memory.max").write_text(f"{limit}\n")
    (machine / "memory.current").write_text(f"{ONE}\n")

    assert parallelism.at_once() == expected


def test_without_information_on_free_memory_all_memory_counts(machine: Path) -> None:
    (machine / "meminfo").unlink()

    assert parallelism.at_once() >= 1


def test_a_setting_decides(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del machine
    monkeypatch.setenv("JACQUARD_PARALLELISM", "20")

    assert parallelism.at_once() == 20


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "many"])
def test_a_setting_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("JACQUARD_PARALLELISM", wrong)

    with pytest.raises(SettingError) as refused:
        parallelism.at_once()

    assert str(refused.value) == (
        f"JACQUARD_PARALLELISM: '{wrong}' is not a whole number above 0; write the number of stacks to run in parallel"
    )
