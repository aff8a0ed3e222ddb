"""Real slurmctld and slurmd run the check of GPUs before and after jobs, with the rendered script and lines.

Slurm is Debian's release 22.05, whose nodes do not receive scripts from slurmctld, so the paths of the script are
absolute. GPUs are folders that look like devices of a PCI bus, and ``nvidia-smi`` lists as many as the test says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environment_data import ENVIRONMENTS
from local_region import wait_until
from rendered_objects import objects_of
from slurm_clusters import slurm_input
from slurm_programs import SlurmNode

from components.render.workloads.slurm import GPU_CHECK, PROLOG
from components.specs.reading.loader import load_environment

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

GPUS = 2


class Gpus:
    """GPUs of the node, of which some answer."""

    def __init__(self, folder: Path) -> None:
        self._answering = folder / "answering"
        for number in range(GPUS):
            device = folder / "bus" / f"0000:{number:02}:00.0"
            device.mkdir(parents=True)
            (device / "vendor").write_text("0x10de\n")
            (device / "class").write_text("0x030200\n")
        self.answer(GPUS)
        self.tool, self.bus = folder / "nvidia-smi", folder / "bus"
        self.tool.write_text(f'#!/bin/sh\nread -r count <{self._answering}\n/usr/bin/seq -f "GPU-%g" "$count"\n')
        self.tool.chmod(0o755)

    def answer(self, count: int) -> None:
        """Let ``count`` GPUs answer."""
        self._answering.write_text(f"{count}\n")

    def loss(self, count: int) -> str:
        """Return the command of a job while which GPUs are lost, so that ``count`` answer."""
        return f"echo {count} >{self._answering}"


@pytest.fixture
def gpus(short_folder: Path) -> Gpus:
    return Gpus(short_folder)


@pytest.fixture
def node(short_folder: Path, gpus: Gpus) -> Iterator[SlurmNode]:
    """Start Slurm with the lines of the rendered Controller, and those that the operator adds for the script."""
    given = slurm_input(load_environment("laptop", ENVIRONMENTS))
    objects = {(item.kind, item.name): item for item in objects_of(given)}
    text: str = objects["ConfigMap", PROLOG].body["data"][GPU_CHECK]
    for path, replacement in (("/sys/bus/pci/devices", gpus.bus), ("/usr/bin/nvidia-smi", gpus.tool)):
        assert path in text
        text = text.replace(path, str(replacement))
    script = short_folder / GPU_CHECK
    script.write_text(text)
    script.chmod(0o755)
    controller: dict[str, Any] = objects["Controller", "slurm"].body["spec"]
    lines = dict(line.split("=", 1) for line in controller["extraConf"].splitlines())
    assert [item["name"] for item in controller["prologScriptRefs"]] == [PROLOG]
    checks = {"Prolog": GPU_CHECK, "Epilog": lines["Epilog"], "SchedulerParameters": lines["SchedulerParameters"]}
    started = SlurmNode(
        {key: value.replace(GPU_CHECK, str(script)) for key, value in checks.items()}, short_folder / "slurm"
    )
    try:
        started.start_all()
        yield started
    finally:
        started.stop()


def await_drained(node: SlurmNode) -> None:
    wait_until(lambda: node.state.startswith("drained"), timeout_seconds=60, what="the node is drained")


def test_a_gpu_that_is_lost_while_a_job_runs_drains_the_node_after_the_job(node: SlurmNode, gpus: Gpus) -> None:
    job = node.submit(gpus.loss(GPUS - 1))

    await_drained(node)
    assert node.reason == "Epilog error"
    assert (node.job(job)["JobState"], node.job(job)["ExitCode"]) == ("COMPLETED", "0:0")


def test_a_gpu_that_does_not_answer_before_a_job_drains_the_node_and_queues_the_job_again(
    node: SlurmNode, gpus: Gpus, short_folder: Path
) -> None:
    gpus.answer(GPUS - 1)

    job = node.submit(f"touch {short_folder}/ran")

    await_drained(node)
    wait_until(lambda: node.job(job)["JobState"] == "PENDING", timeout_seconds=60, what="the job is queued again")
    assert node.job(job)["Restarts"] == "1"
    assert not node.job(job)["Reason"].startswith("JobHeld"), "an administrator would have to release the job"
    assert not (short_folder / "ran").exists()


def test_nodes_with_all_gpus_run_one_job_after_the_other(node: SlurmNode, short_folder: Path) -> None:
    jobs = [node.submit(f"touch {short_folder}/ran-{number}") for number in range(2)]

    for number, job in enumerate(jobs):
        wait_until(
            lambda job=job: node.job(job)["JobState"] == "COMPLETED",  # type: ignore[misc]
            timeout_seconds=60,
            what=f"job {number} completes",
        )
        assert (short_folder / f"ran-{number}").exists()
    wait_until(lambda: node.state == "idle", timeout_seconds=60, what="the node is idle again")
