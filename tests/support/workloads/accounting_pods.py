"""Run the commands of the pod of a Slurm cluster's database on this machine, in folders of the test.

The programs are those of Debian's packages. Wrappers, which come first in the search path of the pod's commands, set
folders other than the ones compiled into the programs.
"""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from components.render.manifest import Manifest
from components.render.workloads.slurm_backup import DUMPS
from components.render.workloads.slurm_database import DATA, FILES, PORT, RUN
from jacquard.lab.rehearsal import ports
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.debian import unpacked
from tests.support.machine.programs import Programs

_PACKAGES = (
    "mariadb-server",
    "mariadb-server-core",
    "mariadb-client",
    "mariadb-client-core",
    "libmariadb3",
    "libaio1",
    "liburing2",
)
_BASE = {"mariadbd": "usr/sbin", "mariadb-install-db": "usr/bin"}
"""Programs that take their folder as an option, with the path of each in its package."""
_START_SECONDS = 60
PASSWORD = "s3cret.Of-slurm"


class DatabasePod:
    """The pod of the StatefulSet among ``objects``, with a volume that persists when the pod is deleted."""

    def __init__(self, objects: Iterable[Manifest], folder: Path) -> None:
        self._tools, self._folder = unpacked("mariadb", _PACKAGES), folder
        [self.port] = ports.free(1)
        by_kind = {item.kind: item for item in objects if item.name.startswith("slurm-database")}
        self._spec: dict[str, Any] = by_kind["StatefulSet"].body["spec"]["template"]["spec"]
        job = by_kind["CronJob"].body["spec"]["jobTemplate"]["spec"]
        self._backup: dict[str, Any] = job["template"]["spec"]
        self._paths = {
            DUMPS: folder / "dumped",
            DATA: folder / "data",
            RUN: folder / "run",
            FILES: folder / "files",
            "/tmp": folder / "tmp",  # noqa: S108 - a mount
        }
        for path in (*self._paths.values(), folder / "bin"):
            path.mkdir(parents=True)
        for name, text in by_kind["ConfigMap"].body["data"].items():
            (self._paths[FILES] / name).write_text(self._here(text))
        for name, place in _BASE.items():
            self._wrap(name, place)
        self._programs = Programs(folder)

    @property
    def data(self) -> Path:
        """Return the volume."""
        return self._paths[DATA]

    def prepare(self, password: str = PASSWORD) -> subprocess.CompletedProcess[str]:
        """Run the first init container until it exits."""
        [first] = self._spec["initContainers"]
        variables = {item["name"]: item.get("value", password) for item in first["env"]}
        return self._run(first["command"], **variables)

    def dump(self, password: str = PASSWORD) -> Path:
        """Run the first container of the backup job, and return its file."""
        [first] = self._backup["initContainers"]
        variables = {item["name"]: item.get("value", password) for item in first["env"]}
        variables |= {"POD": "run-1", "HOST": "127.0.0.1", "MYSQL_TCP_PORT": str(self.port)}
        done = self._run(first["command"], **variables)
        assert done.returncode == 0, done.stderr
        [file] = self._paths[DUMPS].iterdir()
        return file

    def start(self) -> None:
        """Start the server, and wait until its probe succeeds."""
        [server] = self._spec["containers"]
        program, *arguments = map(self._here, server["command"])
        program = shutil.which(program, path=self._variables["PATH"]) or program
        self._programs.start("mariadb", program, *arguments, **self._variables)
        wait_until(self.is_ready, timeout_seconds=_START_SECONDS, what="the database is ready")

    def is_ready(self) -> bool:
        """Run the probe of the server."""
        [server] = self._spec["containers"]
        return self._run(server["readinessProbe"]["exec"]["command"]).returncode == 0

    def kill(self) -> None:
        """Kill the server, as a node failure does."""
        self._programs.kill("mariadb")

    def stop(self) -> None:
        """Stop the server if it runs."""
        self._programs.stop()

    @property
    def log(self) -> str:
        """Return the output of the server."""
        path = self._folder / "mariadb.log"
        return path.read_text() if path.exists() else ""

    def query(self, statement: str, user: str = "slurm", password: str = PASSWORD) -> subprocess.CompletedProcess[str]:
        """Execute a statement as slurmdbd connects: by TCP, with the password."""
        login = ("--no-defaults", "--host=127.0.0.1", f"--port={self.port}", f"--user={user}", f"--password={password}")
        return self._run(["mariadb", *login, "--batch", "--skip-column-names", f"--execute={statement}"])

    def administer(self, statement: str) -> str:
        """Execute a statement as an administrator does in the pod."""
        files = self._here(f"--defaults-file={FILES}/my.cnf")
        done = self._run(["mariadb", files, "--batch", "--skip-column-names", f"--execute={statement}"])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def execute(self, command: str, content: str = "") -> str:
        """Execute a command in the pod, with ``content`` as its input, and return its output."""
        done = self._run(command.split(), content=content)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def _variables(self) -> dict[str, str]:
        found = self._tools.environment
        folders = (self._folder / "bin", self._tools.root / "usr/bin", self._tools.root / "usr/sbin")
        return {**found, "PATH": ":".join((*map(str, folders), os.environ["PATH"]))}

    def _here(self, text: str) -> str:
        for path, place in self._paths.items():
            text = text.replace(path, str(place)) if path != "/tmp" else text.replace("=/tmp\n", f"={place}\n")  # noqa: S108
        return text.replace(f"port={PORT}\n", f"port={self.port}\n")

    def _run(self, command: Iterable[str], content: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        words = [self._here(word) for word in command]
        env = {**self._variables, **variables}
        program = shutil.which(words[0], path=env["PATH"]) or words[0]
        return subprocess.run(
            [program, *words[1:]], env=env, input=content, capture_output=True, text=True, check=False
        )

    def _wrap(self, name: str, place: str) -> None:
        base, path = self._tools.root / "usr", self._folder / "bin" / name
        further = f"--basedir={base} --lc-messages-dir={base}/share/mysql"
        if getpass.getuser() == "root":  # as root, the programs run only with this option
            further += " --user=root"
        # Containers have no USER. The first option has to stay the first one.
        lines = ("#!/bin/sh", "unset USER", "first=$1", "shift")
        program = f'exec {self._tools.root / place / name} "$first" {further} "$@"'
        path.write_text("\n".join((*lines, program, "")))
        path.chmod(0o755)
