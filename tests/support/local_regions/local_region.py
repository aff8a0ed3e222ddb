"""A local region that tests drive with the commands of users.

The region has its own home and a copy of the data, so that a test can edit the environment without affecting another
region that runs from the same clone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from jacquard.machine import paths
from jacquard.providers.kube import ApiServer
from tests.support.data.environment_data import copy_data
from tests.support.machine.captured_commands import start_captured
from tests.support.machine.outcome import Outcome
from tests.support.machine.scaled_timeout import ScaledTimeout, slowdown
from tests.support.objects.published_crds import CRDS

ENVIRONMENT = "laptop"
UP_TIMEOUT_SECONDS = 600
_ANSWER_SECONDS = 30.0
"""Longest response time of an API server on an idle machine; at load 30, listing fifty Machines took longer."""
JACQUARD = str(Path(sys.executable).parent / "jacquard")
_LOG_LINES = 20
"""Number of lines of each log in a failure message."""
UP = (JACQUARD, "up", ENVIRONMENT)
State = TypeVar("State")


class LocalRegion:
    """A local region (default: laptop), driven with the commands of users.

    Its data are a copy of the project's, unless ``environments`` names another folder, which may not exist yet.
    """

    def __init__(self, folder: Path, environment: str = ENVIRONMENT, environments: Path | None = None) -> None:
        self.environment = environment
        self.environments = environments or copy_data(folder / "environments", environment)
        self.home = folder / "home"
        self._started: list[subprocess.Popen[str]] = []
        self.variables = {
            **os.environ,
            "JACQUARD_HOME": str(self.home),
            "JACQUARD_ENVIRONMENTS": str(self.environments),
            "JACQUARD_SPEED": "8",
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }
        if CRDS.is_dir():
            self.variables["CRDS_DIR"] = str(CRDS)

    def start(self, *command: str) -> subprocess.Popen[str]:
        process = start_captured(*command, folder=paths.ROOT, variables=self.variables)
        self._started.append(process)
        return process

    def kill_running_commands(self) -> None:
        """Kill the commands of a failed test with all their child processes."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def run(self, *command: str, timeout_seconds: float = UP_TIMEOUT_SECONDS) -> Outcome:
        """Run a command until it exits.

        Raises:
            AssertionError: The command times out; with its output and the logs of the region.
        """
        return self.end_of(self.start(*command), timeout_seconds)

    def end_of(self, process: subprocess.Popen[str], timeout_seconds: float = UP_TIMEOUT_SECONDS) -> Outcome:
        """Wait until a command that `start` started exits; raises like `run`."""
        timeout_seconds *= slowdown()
        try:
            stdout, stderr = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            parts = [
                f"{process.args} did not end within {timeout_seconds:.0f} s",
                stdout,
                stderr,
                *self._ends_of_logs(),
            ]
            raise AssertionError("\n".join(parts)) from None
        return Outcome(process.returncode, stdout, stderr)

    def _ends_of_logs(self) -> Iterator[str]:
        folder = self.home / "regions" / self.environment / "logs"
        # Each cluster's folder is a symbolic link, which a recursive pattern does not follow.
        for path in sorted([*folder.glob("*.log"), *folder.glob("*/*.log")]):
            yield f"==> {path.name} of {path.parent.name}"
            yield from path.read_text(errors="replace").splitlines()[-_LOG_LINES:]

    def jacquard(self, *arguments: str) -> Outcome:
        return self.run(JACQUARD, *arguments)

    def up(self) -> None:
        """Apply the data, and wait until the region is ready."""
        outcome = self.jacquard("up", self.environment)
        assert outcome.code == 0, outcome.text

    def pulumi(self, *arguments: str) -> Outcome:
        """Run ``pulumi`` as users do after ``eval "$(jacquard env laptop)"``."""
        line = f'eval "$({JACQUARD} env {self.environment})" && exec pulumi "$@"'
        return self.run("bash", "-c", line, "pulumi", *arguments)

    def status(self) -> dict[str, Any]:
        outcome = self.jacquard("status", self.environment, "--format", "json")
        assert outcome.code in {0, 7}, (
            outcome.text
        )  # Exit code 7: a cluster is unreachable, such as one that is being created.
        return dict(json.loads(outcome.stdout))

    def api(self, cluster: str = "management") -> ApiServer:
        kubeconfig = self.home / "regions" / self.environment / "kubeconfigs" / f"{cluster}.yaml"
        return ApiServer.from_kubeconfig(kubeconfig, timeout_seconds=_ANSWER_SECONDS * slowdown())

    def is_up(self) -> bool:
        outcome = self.jacquard("status", self.environment, "--format", "json")
        return outcome.code == 0 and bool(json.loads(outcome.stdout)["settled"])

    def uids(self, api_version: str, kind: str, namespace: str, selector: str | None = None) -> set[str]:
        found = self.api().list(api_version, kind, namespace=namespace, label_selector=selector)
        return {item["metadata"]["uid"] for item in found}

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.environments / file
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new))

    def rewrite(self, file: str, change: Callable[[Any], object]) -> None:
        """Replace the content of a file below its first line by the result of ``change``."""
        path = self.environments / file
        header, _, text = path.read_text().partition("\n")
        contents = yaml.safe_load(text)
        change(contents)
        path.write_text(f"{header}\n{yaml.safe_dump(contents, sort_keys=False)}")


def delete_region(region: LocalRegion) -> None:
    """Delete all processes and files of ``region``, in any state."""
    region.kill_running_commands()
    # `jacquard down` is not used, since it deletes every object first; it has its own tests.
    gone = region.run(sys.executable, "-m", "jacquard.lab.rehearsal", "down", region.environment)
    assert (gone.code, leftovers(region)) == (0, []), f"something is left behind\n{gone.text}"


@contextmanager
def deleted_at_exit(region: LocalRegion) -> Iterator[LocalRegion]:
    """Yield ``region``, and delete all its processes and files when the block ends."""
    try:
        yield region
    finally:
        delete_region(region)


def wait_until(
    reached: Callable[[], bool], *, timeout_seconds: float, what: str, during: subprocess.Popen[str] | None = None
) -> None:
    """Wait for a state of the region while ``during`` runs; the time limit only bounds the simulation."""
    patience = ScaledTimeout(timeout_seconds)
    while not reached():
        if during is not None and during.poll() is not None:
            message = f"{what}: the command ended before that: {during.communicate()}"
            raise AssertionError(message)
        assert not patience.is_over(), f"{what}: not reached within {timeout_seconds:.0f} s of a free machine"
        time.sleep(0.5)


def wait_while_changing(
    state: Callable[[], State], reached: Callable[[State], bool], *, still_seconds: float, what: str
) -> None:
    """Wait for a state of the region, and fail only if the region stops changing before it is reached."""
    last, patience = state(), ScaledTimeout(still_seconds)
    while not reached(last):
        assert not patience.is_over(), f"{what}: nothing moved within {still_seconds:.0f} s of a free machine: {last}"
        time.sleep(0.5)
        now = state()
        if now != last:
            last, patience = now, ScaledTimeout(still_seconds)


def leftovers(region: LocalRegion) -> list[str]:
    """Return the running processes and the files of a region."""
    folder = region.home / "regions"
    return [*map(str, processes_of(region.home)), *(str(path) for path in folder.rglob("*") if path.is_file())]


def processes_of(home: Path) -> list[str]:
    """Return the command lines of all processes that use ``home``."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(home) in line:
            found.append(line)
    return found
