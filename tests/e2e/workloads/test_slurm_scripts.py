"""Real slurmctld and slurmd run scripts of a tenant and the check of GPUs, with the rendered files and lines.

Slurm is Debian's release 22.05, whose nodes do not receive scripts from slurmctld, and which reads one line each for
scripts before and after jobs: the line names all files of a folder, which slurmd runs from z to a. GPUs are folders
that look like devices of a PCI bus, and ``nvidia-smi`` lists as many as the test says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.workloads.slurm_scripts import GPU_CHECK, NAME
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.local_regions.local_region import wait_until
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_clusters import slurm_input
from tests.support.workloads.slurm_programs import SlurmNode

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

GPUS = 2
NAMES = {"prolog": ("mount", "tune"), "epilog": ("clean", "unmount")}
"""Scripts of the tenant, in an order that is not that of their names."""


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


def script(log: Path, name: str) -> str:
    """Return a script that writes its name, and fails if a file of this name asks for it."""
    return f"#!/bin/sh\necho {name} >>{log}\n[ ! -e {log}-{name}-fails ]\n"


def ran(folder: Path) -> list[str]:
    """Return the names of the scripts that have run."""
    log = folder / "ran"
    return log.read_text().split() if log.exists() else []


@pytest.fixture
def gpus(short_folder: Path) -> Gpus:
    return Gpus(short_folder)


@pytest.fixture
def node(short_folder: Path, gpus: Gpus) -> Iterator[SlurmNode]:
    """Start Slurm with the scripts of the rendered ConfigMap, in the order of the lines of the Controller."""
    log = short_folder / "ran"
    scripts = {
        kind: [{"name": name, "script": script(log, f"{kind}-{name}")} for name in names]
        for kind, names in NAMES.items()
    }
    given = slurm_input(load_environment("laptop", ENVIRONMENTS), **scripts)
    objects = {(item.kind, item.name): item for item in objects_of(given)}
    files = dict(objects["ConfigMap", NAME].body["data"])
    for path, replacement in (("/sys/bus/pci/devices", gpus.bus), ("/usr/bin/nvidia-smi", gpus.tool)):
        assert path in files[GPU_CHECK]
        files[GPU_CHECK] = files[GPU_CHECK].replace(path, str(replacement))
    controller: dict[str, Any] = objects["Controller", "slurm"].body["spec"]
    lines = [line.split("=", 1) for line in controller["extraConf"].splitlines()]
    settings = {key: value for key, value in lines if key == "SchedulerParameters"}
    for kind in ("Prolog", "Epilog"):
        folder = short_folder / kind
        folder.mkdir()
        for number, (_, name) in enumerate(reversed([line for line in lines if line[0] == kind])):
            path = folder / f"{number}-{name}"
            path.write_text(files[name])
            path.chmod(0o755)
        settings[kind] = f"{folder}/*"
    started = SlurmNode(settings, short_folder / "slurm")
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

    job = node.submit(f"touch {short_folder}/started")

    await_drained(node)
    wait_until(lambda: node.job(job)["JobState"] == "PENDING", timeout_seconds=60, what="the job is queued again")
    assert node.job(job)["Restarts"] == "1"
    assert not node.job(job)["Reason"].startswith("JobHeld"), "an administrator would have to release the job"
    assert not (short_folder / "started").exists()
    assert not {"prolog-mount", "prolog-tune"} & set(ran(short_folder))


def test_nodes_with_all_gpus_run_one_job_after_the_other(node: SlurmNode, short_folder: Path) -> None:
    jobs = [node.submit(f"touch {short_folder}/started-{number}") for number in range(2)]

    for number, job in enumerate(jobs):
        wait_until(
            lambda job=job: node.job(job)["JobState"] == "COMPLETED",  # type: ignore[misc]
            timeout_seconds=60,
            what=f"job {number} completes",
        )
        assert (short_folder / f"started-{number}").exists()
    wait_until(lambda: node.state == "idle", timeout_seconds=60, what="the node is idle again")
    assert ran(short_folder) == 2 * ["prolog-mount", "prolog-tune", "epilog-clean", "epilog-unmount"]


def test_a_script_before_a_job_that_fails_drains_the_node_and_queues_the_job_again(
    node: SlurmNode, short_folder: Path
) -> None:
    (short_folder / "ran-prolog-mount-fails").touch()

    job = node.submit(f"touch {short_folder}/started")

    await_drained(node)
    assert node.reason == "Prolog error"
    wait_until(lambda: node.job(job)["JobState"] == "PENDING", timeout_seconds=60, what="the job is queued again")
    assert not node.job(job)["Reason"].startswith("JobHeld"), "an administrator would have to release the job"
    assert not (short_folder / "started").exists()
    assert ran(short_folder) == ["prolog-mount", "epilog-clean", "epilog-unmount"], "epilogs clean up in any case"


def test_a_script_after_a_job_that_fails_drains_the_node_and_keeps_the_result_of_the_job(
    node: SlurmNode, short_folder: Path
) -> None:
    (short_folder / "ran-epilog-clean-fails").touch()

    job = node.submit("true")

    await_drained(node)
    assert node.reason == "Epilog error"
    assert (node.job(job)["JobState"], node.job(job)["ExitCode"]) == ("COMPLETED", "0:0")
    assert "epilog-unmount" not in ran(short_folder)
