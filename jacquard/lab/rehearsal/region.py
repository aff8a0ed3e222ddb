"""Where the parts of one environment's local region lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.machine import paths

MANAGEMENT = "management"
"""Name of the management cluster; every other name is a hosted control plane."""
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Region:
    """The local region of one environment in this project."""

    environment: str
    folder: Path

    @classmethod
    def of(cls, environment: str) -> Region:
        """Return the region of ``environment``, whether it runs or not."""
        checked("environment", environment)
        return cls(environment, paths.region(environment))

    @property
    def workdir(self) -> Path:
        """Return KWOK_WORKDIR."""
        return self.folder / "kwok"

    @property
    def logs(self) -> Path:
        """Return the folder of logs; each cluster is a subfolder."""
        return paths.logs(self.environment)

    def cluster_folder(self, cluster: str) -> Path:
        """Return what kwokctl keeps of one cluster."""
        return self.workdir / "clusters" / cluster

    def clusters(self) -> list[str]:
        """Return the clusters that exist, whole or half-made, sorted."""
        return sorted(mark.stem for mark in self.workdir.glob("*.backend"))

    def backend_mark(self, cluster: str) -> Path:
        """Return the file that says with what a cluster was made, there from before its first process to its end."""
        return self.workdir / f"{cluster}.backend"

    def kubeconfig(self, cluster: str) -> Path:
        """Return the administrator's kubeconfig of one cluster.

        The management cluster's is where everyone looks for it. A hosted one's stays here: others read it from the
        Secret that the control-plane provider writes.
        """
        if cluster == MANAGEMENT:
            return paths.kubeconfig(self.environment, MANAGEMENT)
        return self.cluster_folder(cluster) / "kubeconfig.yaml"


def checked(what: str, name: str) -> str:
    """Return ``name`` if it can be a folder and part of host names.

    Raises:
        RehearsalError: It cannot.
    """
    if NAME.fullmatch(name):
        return name
    msg = f"{what} '{name}' is not a DNS label; write lower-case letters, digits and '-', at most 63"
    raise RehearsalError(msg)
