"""Slurm's real daemons from Debian packages in a folder of the test: slurmdbd, or slurmctld with one node."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal import ports
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.debian import unpacked
from tests.support.machine.programs import Programs

_PACKAGES = (
    "slurmdbd",
    "slurmctld",
    "slurmd",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-mysql-plugin",
    "munge",
    "libmunge2",
    "libmariadb3",
    "libhwloc15",
    "liblua5.1-0",
    "libnuma1",
    "libipmimonitoring6",
    "libfreeipmi17",
    "libipmidetect0",
    "libdbus-1-3",
    "slurmrestd",
    "slurm-wlm-jwt-plugin",
    "libjwt0",
    "libb64-0d",
    "libjansson4",
    "libhttp-parser2.9",
    "libjson-c5",
    "libyaml-0-2",
)
_START_SECONDS = 60
_HOST = "localhost"


class SlurmPrograms:
    """Programs of one Slurm cluster, which all run as the user of the test and authenticate with MUNGE."""

    def __init__(self, folder: Path) -> None:
        self._tools, self._folder, self._programs = unpacked("slurm", _PACKAGES), folder, Programs(folder)
        folder.mkdir(parents=True)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a client of Slurm."""
        command = [self._tools.root / "usr/bin" / program, *arguments]
        return subprocess.run(command, env=self._variables, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        """End all programs."""
        self._programs.stop()

    def log(self, name: str) -> str:
        """Return the output of a daemon."""
        return (self._folder / f"{name}.log").read_text()

    @property
    def common(self) -> dict[str, Any]:
        """Return the settings of all daemons and clients."""
        return {
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self._folder}/munge.socket",
            "PluginDir": self._tools.path("usr/lib/*/slurm-wlm"),
            "SlurmUser": getpass.getuser(),
        }

    def write(self, name: str, *settings: Mapping[str, Any]) -> None:
        """Write a file of settings."""
        path = self._folder / name
        path.write_text("".join(f"{key}={value}\n" for part in settings for key, value in part.items()))
        path.chmod(0o600)

    def start(self, name: str, *arguments: str, **variables: str) -> None:
        """Start a daemon with further environment variables."""
        self._programs.start(name, str(self.daemon(name)), *arguments, **self._variables, **variables)

    def start_munge(self) -> None:
        """Start MUNGE, by which daemons authenticate each other."""
        files = {"socket": "socket", "pid-file": "pid", "key-file": "key", "seed-file": "seed"}
        options = (f"--{option}={self._folder}/munge.{ending}" for option, ending in files.items())
        self.start("munged", "--foreground", "--force", *options)

    def daemon(self, name: str) -> Path:
        """Return the path of a daemon, with the name that Debian's alternatives give it.

        Daemons compare their name, for example before they load ``AuthAltTypes``.
        """
        renamed = self._tools.root / "usr/sbin" / f"{name}-wlm"
        if not renamed.exists():
            return renamed.with_name(name)
        link = self._folder / name
        if not link.is_symlink():
            link.symlink_to(renamed)
        return link

    @property
    def _variables(self) -> dict[str, str]:
        return {**self._tools.environment, "SLURM_CONF": str(self._folder / "slurm.conf")}


class Slurmdbd(SlurmPrograms):
    """slurmdbd with sacctmgr as its client."""

    def __init__(self, storage: Mapping[str, Any], port: int, password: str, folder: Path) -> None:
        """Write the configuration as the operator does from ``storage``, for a database at ``port`` of this machine."""
        super().__init__(folder)
        [own] = ports.free(1)
        daemon = {
            "DbdHost": _HOST,
            "DbdPort": own,
            "PidFile": folder / "slurmdbd.pid",
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "127.0.0.1",
            "StoragePort": port,
            "StorageUser": storage["username"],
            "StorageLoc": storage["database"],
            "StoragePass": password,
        }
        client = {
            "ClusterName": "test",
            "SlurmctldHost": _HOST,
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": _HOST,
            "AccountingStoragePort": own,
            "AccountingStoragePass": folder / "munge.socket",
        }
        self.write("slurmdbd.conf", self.common, daemon)
        self.write("slurm.conf", self.common, client)

    def start_all(self) -> None:
        """Start MUNGE and slurmdbd, and wait until slurmdbd answers."""
        self.start_munge()
        self.start("slurmdbd", "-D", "-vv")
        wait_until(self.answers, timeout_seconds=_START_SECONDS, what="slurmdbd answers")

    def answers(self) -> bool:
        """Return whether sacctmgr gets an answer."""
        return self.sacctmgr("list", "cluster").returncode == 0

    def sacctmgr(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run sacctmgr non-interactively; its output has one line for each entry."""
        return self.run("sacctmgr", "--immediate", "--noheader", "--parsable2", *arguments)


class SlurmNode(SlurmPrograms):
    """slurmctld with one node, whose slurmd runs jobs as the user of the test."""

    def __init__(self, lines: Mapping[str, Any], folder: Path) -> None:
        """Write ``slurm.conf`` with further ``lines``."""
        super().__init__(folder)
        control, node = ports.free(2)
        settings = {
            "ClusterName": "test",
            "SlurmctldHost": _HOST,
            "SlurmctldPort": control,
            "SlurmctldPidFile": folder / "slurmctld.pid",
            "SlurmdUser": getpass.getuser(),
            "SlurmdPort": node,
            "SlurmdPidFile": folder / "slurmd.pid",
            "SlurmdSpoolDir": folder / "spool",
            "StateSaveLocation": folder / "state",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "MpiDefault": "none",
        }
        for path in ("spool", "state"):
            (folder / path).mkdir()
        nodes = {"NodeName": f"{_HOST} CPUs=1 State=UNKNOWN", "PartitionName": "main Nodes=ALL Default=YES State=UP"}
        self.write("slurm.conf", self.common, settings, lines, nodes)

    def start_all(self) -> None:
        """Start MUNGE, slurmctld and slurmd, and wait until the node is idle."""
        self.start_munge()
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", _HOST, "-d", str(self.daemon("slurmstepd")))
        wait_until(lambda: self.state == "idle", timeout_seconds=_START_SECONDS, what="the node is idle")

    @property
    def state(self) -> str:
        """Return the state of the node, such as ``idle`` or ``drained``."""
        return self.run("sinfo", "--noheader", "--format=%T").stdout.strip()

    @property
    def reason(self) -> str:
        """Return the reason for which the node is drained."""
        return self.run("sinfo", "--noheader", "--format=%E").stdout.strip()

    def submit(self, command: str) -> str:
        """Submit a batch job, and return its number."""
        log = f"--output={self._folder}/job.log"
        done = self.run("sbatch", "--parsable", f"--chdir={self._folder}", log, f"--wrap={command}")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def job(self, number: str) -> dict[str, str]:
        """Return the fields of a job, such as ``JobState``."""
        words = self.run("scontrol", "show", "job", number).stdout.split()
        return dict(word.split("=", 1) for word in words if "=" in word)
