"""Paths of the local region of an environment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.machine import paths

MANAGEMENT = "management"
"""Name of the management cluster; all other names are hosted control planes."""
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Region:
    """The local region of one environment in this project."""

    environment: str
    folder: Path

    @classmethod
    def of(cls, environment: str) -> Region:
        """Return the region of ``environment``; it may not exist yet."""
        checked("environment", environment)
        return cls(environment, paths.region(environment))

    @property
    def workdir(self) -> Path:
        """Return KWOK_WORKDIR."""
        return self.folder / "kwok"

    @property
    def logs(self) -> Path:
        """Return the log folder, with a subfolder for each cluster."""
        return paths.logs(self.environment)

    def cluster_folder(self, cluster: str) -> Path:
        """Return kwokctl's folder of one cluster."""
        return self.workdir / "clusters" / cluster

    def clusters(self) -> list[str]:
        """Return the existing clusters, including incomplete ones, sorted."""
        return sorted(mark.stem for mark in self.workdir.glob("*.backend"))

    def backend_mark(self, cluster: str) -> Path:
        """Return the file with the backend of a cluster, which exists from before the first process to the removal."""
        return self.workdir / f"{cluster}.backend"

    def kubeconfig(self, cluster: str) -> Path:
        """Return the administrator's kubeconfig of one cluster.

        The kubeconfig of the management cluster has a public path. The kubeconfig of a hosted cluster is internal:
        users read a kubeconfig from the Secret that the control-plane provider writes.
        """
        if cluster == MANAGEMENT:
            return paths.kubeconfig(self.environment, MANAGEMENT)
        return self.cluster_folder(cluster) / "kubeconfig.yaml"


def checked(subject: str, name: str) -> str:
    """Return ``name`` if it is valid as a folder name and in host names.

    Raises:
        RehearsalError: The name is invalid.
    """
    if NAME.fullmatch(name):
        return name
    msg = f"{subject} '{name}' is not a DNS label; write at most 63 lower-case letters, digits and '-'"
    raise RehearsalError(msg)
