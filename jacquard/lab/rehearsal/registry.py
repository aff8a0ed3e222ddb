"""Process of the real CNCF distribution registry, which replaces all registries outside the region.

The registry is read-only: its content is written to its storage (`jacquard.lab.rehearsal.images`). Its configuration
file is named after its port, so that the process table contains the address of the running registry.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import urllib3
import yaml

from jacquard.lab.rehearsal import ports, processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private

NAME = "registry"
_ATTEMPTS = 5
_READY_SECONDS = 30.0
_POLL_SECONDS = 0.05


def storage(region: Region) -> Path:
    """Return the root directory of the registry's storage."""
    return region.folder / NAME / "data"


def address(region: Region) -> str | None:
    """Return host and port of the running registry, or None."""
    running = [process for process in processes.running(region.folder) if process.part == NAME]
    return _address(running[0]) if running else None


def ensure(region: Region, say: Callable[[str], None]) -> None:
    """Start the registry unless it runs and responds.

    Raises:
        RehearsalError: The registry does not respond; the message contains the last lines of its log.
        ToolchainError: The registry is not built.
    """
    alive = [process for process in processes.running(region.folder) if process.part == NAME]
    if len(alive) == 1 and _responds(_address(alive[0])):
        return
    if alive:
        say(f"{NAME}: does not respond; starting it again")
    processes.kill(alive)
    if any(_start(region) for _ in range(_ATTEMPTS)):
        return
    log = _log(region)
    tail = "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-8:])
    msg = f"{NAME} did not start; last lines of {log}:\n{tail}"
    raise RehearsalError(msg)


def configuration(folder: Path, port: int) -> str:
    """Return the configuration of a read-only registry with its storage in ``folder``."""
    return yaml.safe_dump(
        {
            "version": "0.1",
            "log": {"level": "warn", "accesslog": {"disabled": True}},
            "storage": {
                "filesystem": {"rootdirectory": str(folder)},
                "maintenance": {"uploadpurging": {"enabled": False}, "readonly": {"enabled": True}},
            },
            "http": {"addr": f"{ports.LOOPBACK}:{port}", "secret": "unused, because nothing is uploaded"},
        }
    )


def _start(region: Region) -> bool:
    """Start the registry on a free port; return whether it responds in time."""
    program = region.folder / "bin" / NAME
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    program.symlink_to(binaries.path(NAME))
    [port] = ports.free(1)
    folder = region.folder / NAME
    for former in folder.glob("*.yaml"):
        former.unlink()
    config = folder / f"{port}.yaml"
    replace_private(config, configuration(storage(region), port))
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "none"}
    arguments = [str(program), "serve", str(config)]
    processes.launch(arguments, log=_log(region), environment=environment, folder=region.folder)
    end = time.monotonic() + _READY_SECONDS
    alive: list[processes.Process] = []
    while time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
        alive = [process for process in processes.running(region.folder) if process.part == NAME]
        if not alive:
            return False
        if _responds(f"{ports.LOOPBACK}:{port}"):
            return True
    processes.kill(alive)
    return False


def _responds(where: str) -> bool:
    try:
        answer = urllib3.request("GET", f"http://{where}/v2/", timeout=3, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200  # noqa: PLR2004 - HTTP status code


def _address(process: processes.Process) -> str:
    return f"{ports.LOOPBACK}:{Path(process.arguments[-1]).stem}"


def _log(region: Region) -> Path:
    return region.logs / f"{NAME}.log"
