"""The monitoring of a region is started, ended or kept, by a setting."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from jacquard.lab.rehearsal import processes, python_parts
from jacquard.lab.rehearsal.monitoring import programs
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine import settings
from jacquard.machine.errors import ToolchainError
from jacquard.machine.settings import Monitoring


def ensure(region: Region, say: Callable[[str], None]) -> None:
    """Run the monitoring if the region shall have it, and otherwise leave nothing of it.

    Raises:
        SettingError: the setting is invalid.
        ToolchainError: Prometheus or Alertmanager is not built.
    """
    folder, chosen = programs.folder(region), settings.monitoring()
    running = [process for process in processes.running(region.folder) if process.part in programs.PARTS]
    if chosen is Monitoring.OFF or (chosen is Monitoring.UNCHANGED and not folder.exists()):
        processes.kill(running)
        shutil.rmtree(folder, ignore_errors=True)
        return
    _require_programs()
    if not running:
        folder.mkdir(parents=True, exist_ok=True)
        programs.Addresses.written(region)
    python_parts.ensure(region, processes.MONITORING, say, f"{settings.speed():g}")


def _require_programs() -> None:
    for program in programs.PROGRAMS:
        try:
            binaries.path(program)
        except ToolchainError as error:
            # A region keeps its monitoring without the variable, and set-up builds nothing for it then.
            msg = f"{error} with {settings.MONITORING}=on, or set {settings.MONITORING}=off"
            raise ToolchainError(msg) from error
