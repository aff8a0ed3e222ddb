"""Slurm's real slurmctld and slurmrestd from Debian packages, with nodes that do not run."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal import ports
from tests.support.local_regions.local_region import wait_until
from tests.support.workloads.slurm_programs import SlurmPrograms

_START_SECONDS = 60
_CHECKS = "disable_user_check,disable_unshare_sysv,disable_unshare_files"
"""Checks of slurmrestd that fail for the user of the test, who also runs slurmctld."""


class SlurmRest(SlurmPrograms):
    """slurmctld and slurmrestd, which accepts tokens that are signed with a key."""

    def __init__(self, nodes: str, key: bytes, folder: Path) -> None:
        """Write ``slurm.conf`` with ``nodes``, a list in Slurm's notation."""
        super().__init__(folder)
        control, self._port = ports.free(2)
        state, file = folder / "state", folder / "jwt.key"
        state.mkdir()
        file.write_bytes(key)
        file.chmod(0o600)
        settings = {
            "ClusterName": "test",
            "SlurmctldHost": "localhost",
            "SlurmctldPort": control,
            "SlurmctldPidFile": folder / "slurmctld.pid",
            "StateSaveLocation": state,
            "ProctrackType": "proctrack/linuxproc",
            "AuthAltTypes": "auth/jwt",
            "AuthAltParameters": f"jwt_key={file}",
        }
        last = {
            "NodeName": f"{nodes} NodeAddr={ports.LOOPBACK} CPUs=1 State=UNKNOWN",
            "PartitionName": "main Nodes=ALL Default=YES State=UP",
        }
        self.write("slurm.conf", self.common, settings, last)

    def start_all(self) -> None:
        """Start MUNGE, slurmctld and slurmrestd, and wait until both answer."""
        self.start_munge()
        self.start("slurmctld", "-D")
        wait_until(
            lambda: self.run("scontrol", "ping").returncode == 0,
            timeout_seconds=_START_SECONDS,
            what="slurmctld answers",
        )
        address = f"{ports.LOOPBACK}:{self._port}"
        options = ("-a", "rest_auth/jwt", "-s", "openapi/v0.0.38")
        self.start("slurmrestd", *options, address, SLURM_JWT="daemon", SLURMRESTD_SECURITY=_CHECKS)
        wait_until(self._listens, timeout_seconds=_START_SECONDS, what="slurmrestd answers")

    def reserve(self, name: str, *fields: str) -> None:
        """Create a reservation for the user of the test."""
        done = self.run("scontrol", "create", f"ReservationName={name}", *fields)
        assert done.returncode == 0, done.stderr

    def get(self, path: str, headers: dict[str, str]) -> dict[str, Any]:
        """Return an answer of slurmrestd."""
        request = urllib.request.Request(f"http://{ports.LOOPBACK}:{self._port}{path}", headers=headers)
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - http only
            return dict(json.load(answer))

    def _listens(self) -> bool:
        try:
            self.get("/", {})
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True
