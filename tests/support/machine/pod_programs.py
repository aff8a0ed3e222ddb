"""Containers of a rendered pod, run as programs of this machine with other folders and addresses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.machine.programs import Programs


@dataclass(frozen=True, kw_only=True)
class PodPrograms:
    """Where the programs of containers are, and what replaces the cluster."""

    folder: Path
    """Folder of logs, and of the home of the programs."""
    search: Path
    """Folder of programs that is searched first."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Values of environment variables by rendered values, such as the URL of a store."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Values of the keys of Secrets."""

    def run(self, pod: Mapping[str, Any], places: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run the containers of a pod in order until one fails, and return the last one.

        Sidecars run until the end. ``places`` replace parts of commands, such as the folders of volumes.
        """
        sidecars = Programs(self.folder)
        try:
            for container in (*pod.get("initContainers", ()), *pod["containers"]):
                command, variables = self._command(container, places), self._variables(container)
                if container.get("restartPolicy") == "Always":
                    sidecars.start(container["name"], *command, **variables)
                    continue
                done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
                if done.returncode:
                    break
        finally:
            sidecars.stop()
        return done

    def _command(self, container: Mapping[str, Any], places: Mapping[str, str]) -> list[str]:
        first, *words = [*container["command"], *container.get("args", ())]
        for place, real in places.items():
            words = [word.replace(place, real) for word in words]
        program = self.search / first
        return [str(program) if program.exists() else first, *words]

    def _variables(self, container: Mapping[str, Any]) -> dict[str, str]:
        values = {entry["name"]: self._value(entry) for entry in container.get("env", ())}
        return {**values, "HOME": str(self.folder), "PATH": f"{self.search}:{os.environ['PATH']}"}

    def _value(self, entry: Mapping[str, Any]) -> str:
        if "value" in entry:
            return self.addresses.get(entry["value"], entry["value"])
        reference = entry["valueFrom"].get("secretKeyRef", {})
        return self.secrets.get(reference.get("key", ""), "")
