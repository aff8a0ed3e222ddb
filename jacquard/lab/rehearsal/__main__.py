"""Command line of ``python -m jacquard.lab.rehearsal up|down|status|monitoring|logs ENVIRONMENT``."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from jacquard.lab.rehearsal import manager, processes, registry
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kwok_configuration import PARTS
from jacquard.lab.rehearsal.monitoring import programs
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain.environment import ENGINE_MEMORY, GO_MEMORY
from jacquard.machine.errors import SettingError, ToolchainError, explained
from jacquard.providers.errors import ProviderError

_LINES = 100
_MONITORING_SECONDS = 120.0
_PORT = re.compile(
    r"(?:--(?:secure-port|webhook-port|listen-client-urls|server-address|web.listen-address)=(?:.*:)?|.*/registry/)(\d+)(?:\.yaml)?$"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 success, 1 failure, 2 usage error, 130 interrupted."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A Command resource runs this program; the engine's memory limit must not apply to the API servers.
    if os.environ.get(GO_MEMORY) == ENGINE_MEMORY:
        del os.environ[GO_MEMORY]
    try:
        _COMMANDS[options.command](options)
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (RehearsalError, ToolchainError, ProviderError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; run the same command again to continue\n")
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        sys.stderr.write(f"{explained(error)}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jacquard.lab.rehearsal", description="Manage the local region of an environment."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="create or repair a cluster of the region")
    down = commands.add_parser("down", help="remove the region, or one of its clusters")
    status = commands.add_parser("status", help="list the parts and their state")
    monitoring = commands.add_parser("monitoring", help="wait for the monitoring, and print its addresses")
    logs = commands.add_parser("logs", help="print the last lines of the logs")
    for command in (up, down, status, monitoring, logs):
        command.add_argument("environment", help="name of the folder in environments/")
    up.add_argument("--cluster", default=MANAGEMENT, help="management (default) or the cluster of a tenant")
    down.add_argument("--cluster", help="only this cluster")
    status.add_argument("--format", choices=("text", "json"), default="text")
    logs.add_argument("part", nargs="?", help="name of a part as listed by status, or a prefix of the name")
    return parser


def _up(options: argparse.Namespace) -> None:
    from jacquard.lab.rehearsal import service  # noqa: PLC0415 - status and logs start faster without it

    region = Region.of(options.environment)
    service.up(region, options.cluster, _say)
    _write(f"{options.cluster} is ready: {region.kubeconfig(options.cluster)}")


def _down(options: argparse.Namespace) -> None:
    from jacquard.lab.rehearsal import service  # noqa: PLC0415 - status and logs start faster without it

    service.down(Region.of(options.environment), options.cluster)
    _write(f"{options.cluster or options.environment} is removed")


def _status(options: argparse.Namespace) -> None:
    rows = _parts(Region.of(options.environment))
    if options.format == "json":
        _write(json.dumps({"environment": options.environment, "parts": rows}, indent=2))
        return
    if not rows:
        _write(f"{options.environment}: not running")
        return
    lines = [("PART", "STATE", "PROCESS", "PORT", "SINCE"), *map(_row, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        _write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _monitoring(options: argparse.Namespace) -> None:
    region = Region.of(options.environment)
    if not programs.folder(region).exists():
        return
    addresses = programs.await_ready(region, _MONITORING_SECONDS)
    _write(f"alerts: http://{addresses.host(programs.PROMETHEUS)}/alerts")
    _write(f"routes: http://{addresses.host(programs.ALERTMANAGER)}")
    _write(f"notices: {programs.notices(region)}")
    for monitor in programs.unserved(region):
        _write(f"no program behind it: {monitor}")


def _logs(options: argparse.Namespace) -> None:
    region = Region.of(options.environment)
    paths = {str(path.relative_to(region.logs))[: -len(".log")]: path for path in _log_files(region)}
    wanted = {name: path for name, path in paths.items() if name.startswith(options.part or "")}
    if not paths:
        msg = f"{options.environment}: there are no logs; 'up' of the local region creates them"
        raise RehearsalError(msg)
    if not wanted:
        msg = f"part '{options.part}' has no log; parts with logs: {', '.join(paths)}"
        raise RehearsalError(msg)
    for name, path in wanted.items():
        _write(f"==> {name}  ({path})")
        with path.open(encoding="utf-8", errors="replace") as lines:
            sys.stdout.writelines(deque(lines, maxlen=_LINES))


def _log_files(region: Region) -> Iterable[Any]:
    # The folder of each cluster is a symbolic link, which a recursive pattern does not follow.
    return sorted([*region.logs.glob("*.log"), *region.logs.glob("*/*.log")])


def _row(part: dict[str, Any]) -> tuple[str, ...]:
    since = part["since"] and dt.datetime.fromisoformat(part["since"]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    state = "running" if part["alive"] else "dead"
    return (part["name"], state, str(part["pid"] or ""), str(part["port"] or ""), since or "")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _parts(region: Region) -> list[dict[str, Any]]:
    """Return all expected and running parts: name, pid, alive, port, since (ISO 8601, None if unknown)."""
    clusters = region.clusters()
    expected = {f"{cluster}/{part}" for cluster in clusters for part in _processes_of(region, cluster)}
    if MANAGEMENT in clusters:
        expected |= {manager.NAME, registry.NAME, "operators"}
    if programs.folder(region).exists():
        expected |= {*programs.PARTS}
    running = processes.running(region.folder)
    dead = expected - {process.part for process in running}
    rows = [_state_of(process.part, process) for process in running] + [_state_of(name, None) for name in dead]
    return sorted(rows, key=lambda row: ("/" in row["name"], row["name"]))


def _processes_of(region: Region, cluster: str) -> Iterable[str]:
    """Return the local processes of a cluster; clusters of kind or a context have only kwok's controller."""
    backend = region.backend_mark(cluster).read_text()
    is_external = backend == "kind" or (cluster == MANAGEMENT and backend != "kwok")
    return ("kwok-controller",) if is_external else PARTS


def _state_of(name: str, process: processes.Process | None) -> dict[str, Any]:
    port, since = None, None
    if process:
        port = next((int(match[1]) for argument in process.arguments if (match := _PORT.match(argument))), None)
        started = process.since()
        since = started and dt.datetime.fromtimestamp(started, dt.UTC).isoformat(timespec="seconds")
    return {"name": name, "pid": process and process.pid, "alive": process is not None, "port": port, "since": since}


_COMMANDS = {"up": _up, "down": _down, "status": _status, "monitoring": _monitoring, "logs": _logs}

if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
