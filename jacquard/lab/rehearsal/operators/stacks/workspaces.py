"""Workspaces of Stacks: a clone and the processes in it, instead of a pod with an agent.

Each step is one process, whose exit code is a file. A restarted program therefore finds running and ended steps. The
process table of the machine shows a step as ``FOLDER/bin/stack-NAME``, a part of the region that ends with it.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from components.specs.secret_text import MASK, masked
from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.operators.view import View
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from jacquard.machine.files import existing_text, replace_private

FOLDER = "workspaces"
_RUN = 'trap : INT; "$@"; code=$?; echo "$code" >"$JACQUARD_RESULT.part"; mv "$JACQUARD_RESULT.part" "$JACQUARD_RESULT"'
"""Shell command that runs its arguments and writes their exit code. An interrupt is for the arguments only."""
_TITLE = "==> "
_ERRORS = ("error:", "fatal:")
_MESSAGE_LINES = 8
_MESSAGE_BYTES = 65536
_LEAST_SECRET = 4
"""Minimum length of masked values; shorter values occur in too many words."""
_TOKEN_SECONDS = 86400
_GRACE_SECONDS = 600
"""Time between the interrupt and the end of a workspace's processes (upstream's grace period of the pod)."""


class Workspace:
    """The folder and the processes of one Stack's workspace."""

    def __init__(self, region: Region, name: str, running: Collection[processes.Process]) -> None:
        """Find the workspace; ``running`` are the running processes of the region."""
        self._region = region
        self._part = f"stack-{name}"
        self._processes = [process for process in running if process.part == self._part]
        self.folder = region.folder / FOLDER / name
        self.source = self.folder / "source"
        self.log = region.logs / f"{self._part}.log"
        self._interrupted = self.folder / "interrupted"

    @property
    def is_running(self) -> bool:
        """Return whether a step was running when the process table was read."""
        return bool(self._processes)

    @property
    def is_ending(self) -> bool:
        """Return whether the workspace is being removed."""
        return self._interrupted.exists()

    def key(self) -> str:
        """Return the key of the spec for which the workspace was created; empty if there is no workspace."""
        return existing_text(self.folder / "key")

    def create(self, key: str) -> None:
        """Create an empty workspace."""
        (self.folder / "home").mkdir(parents=True)
        replace_private(self.folder / "key", key)

    def remove(self, speed: float) -> None:
        """Interrupt the processes of the workspace, or remove its folder if there are none."""
        if not self._processes:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        if not self.is_ending:
            self._interrupted.touch()
            self._signal(signal.SIGINT)
        elif time.time() - self._interrupted.stat().st_mtime > _GRACE_SECONDS / speed:
            self._signal(signal.SIGKILL)

    def result(self, step: str) -> int | None:
        """Return the exit code of a step; None if it has not started, still runs or was killed."""
        path = self._result(step)
        return int(path.read_text()) if path.is_file() else None

    def repository(self, url: str) -> str:
        """Return the repository to clone: that with the data on this machine, unless ``url`` is a local path."""
        if url.startswith("file://"):
            return url
        data = paths.environments().resolve()
        command = ["git", "-C", str(data.parent), "rev-parse", "--show-toplevel"]
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        return found or str(data.parent)

    def fetched(self) -> Path:
        """Prepare the clone, instead of ``pulumi install``, and return the folder of the project.

        The clone uses the virtual environment of this code.
        """
        link = self.source / ".venv"
        if not link.is_symlink():
            link.symlink_to(paths.VENV.resolve())
        return self.source

    def start(
        self, step: str, arguments: Sequence[str], variables: Mapping[str, str], folder: Path
    ) -> subprocess.Popen[bytes]:
        """Start a step."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        result = self._result(step)
        result.parent.mkdir(parents=True, exist_ok=True)
        result.unlink(missing_ok=True)
        with self.log.open("a", encoding="utf-8") as output:
            output.write(f"{_TITLE}{step}\n")
            output.flush()
            return subprocess.Popen(
                [str(self._region.folder / "bin" / self._part), "-c", _RUN, self._part, *arguments],
                executable="/bin/sh",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**variables, "JACQUARD_RESULT": str(result)},
                cwd=folder,
                start_new_session=True,
            )

    def message(self, step: str, secrets: Iterable[str]) -> str:
        """Return the errors in the output of a step, or its last lines, without ``secrets``."""
        if not self.log.is_file():
            return f"{self.log}: missing"
        with self.log.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _MESSAGE_BYTES, 0))
            text = file.read().decode(errors="replace")
        output = text.rpartition(f"{_TITLE}{step}\n")[2]
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        errors = dict.fromkeys(line for line in lines if line.startswith(_ERRORS))
        shown = "\n".join(list(errors or lines)[-_MESSAGE_LINES:])
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= _LEAST_SECRET:
                shown = shown.replace(secret, MASK)
        return masked(shown)

    def git_variables(self) -> dict[str, str]:
        """Return the variables of a process without login and without settings of this user."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("JACQUARD_")}
        home = str(self.folder / "home")
        return {**kept, "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}

    def pulumi_variables(self, backend: str | None, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of ``pulumi``: ``given`` are those of the pod; paths of the pod are replaced.

        Without ``backend``, the state is that of the region's commands.

        Raises:
            ToolchainError: No engine is built or installed.
        """
        kubeconfigs = self.folder / "kubeconfigs"
        engine = environment.engine(self._region.environment, backend_url=backend)
        return {
            **self.git_variables(),
            **given,
            **engine,
            "JACQUARD_CACHE": str(paths.cache()),
            "JACQUARD_HOME": str(paths.home()),
            "JACQUARD_ENVIRONMENTS": str(self.source / paths.DATA),
            "JACQUARD_KUBECONFIGS": str(kubeconfigs),
            "KUBECONFIG": str(kubeconfigs / f"{MANAGEMENT}.yaml"),
        }

    def write_kubeconfig(self, view: View, namespace: str, account: str) -> None:
        """Write the kubeconfig of the management cluster with a token of the workspace's ServiceAccount."""
        name = f"{self._region.environment}-{MANAGEMENT}"
        config = yaml.load(embedded(self._region.kubeconfig(MANAGEMENT), name), yaml.CSafeLoader)
        config["users"][0]["user"] = {"token": view.account_token(namespace, account, seconds=_TOKEN_SECONDS)}
        path = self.folder / "kubeconfigs" / f"{MANAGEMENT}.yaml"
        replace_private(path, yaml.dump(config, Dumper=yaml.CSafeDumper))

    def program(self, variables: Mapping[str, str]) -> str:
        """Return the path of ``pulumi`` inside the region's folder, by which it ends with the region."""
        link = self._region.folder / "bin" / "pulumi"
        found = shutil.which("pulumi", path=variables["PATH"]) or "pulumi"
        if not link.is_symlink() or os.readlink(link) != found:  # noqa: PTH115 - compared as text
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(found)
        return str(link)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):  # the process has ended by itself
                os.killpg(process.pid, number)

    def _result(self, step: str) -> Path:
        return self.folder / "results" / step


def names(region: Region) -> list[str]:
    """Return the names of all Stacks with a workspace."""
    return sorted(path.name for path in (region.folder / FOLDER).glob("*"))
