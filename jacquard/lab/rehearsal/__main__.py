"""The command ``python -m jacquard.lab.rehearsal up|down|status|logs ENVIRONMENT``."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.rehearsal.state import parts
from jacquard.lab.toolchain.environment import ENGINE_MEMORY, GO_MEMORY
from jacquard.machine.errors import SettingError, ToolchainError, explained
from jacquard.providers.errors import ProviderError

_LINES = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    chosen = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A Command of the engine runs this, and its memory limit is not for the API servers started here.
    if os.environ.get(GO_MEMORY) == ENGINE_MEMORY:
        del os.environ[GO_MEMORY]
    try:
        _COMMANDS[chosen.command](chosen)
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (RehearsalError, ToolchainError, ProviderError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; run the same command again to go on\n")
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        sys.stderr.write(f"{explained(error)}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jacquard.lab.rehearsal", description="The local region of an environment."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="make a cluster of the region, or repair it")
    down = commands.add_parser("down", help="end and remove the region, or one cluster of it")
    status = commands.add_parser("status", help="say which parts run")
    logs = commands.add_parser("logs", help="show the end of the logs")
    for command in (up, down, status, logs):
        command.add_argument("environment", help="name of its folder under environments/")
    up.add_argument("--cluster", default=MANAGEMENT, help="management (the default) or a tenant's cluster")
    down.add_argument("--cluster", help="only this cluster")
    status.add_argument("--format", choices=("text", "json"), default="text")
    logs.add_argument("part", nargs="?", help="a part as status names it, or the beginning of its name")
    return parser


def _up(chosen: argparse.Namespace) -> None:
    from jacquard.lab.rehearsal import service  # noqa: PLC0415 - status and logs start faster without it

    region = Region.of(chosen.environment)
    service.up(region, chosen.cluster, _say)
    _write(f"{chosen.cluster} is up: {region.kubeconfig(chosen.cluster)}")


def _down(chosen: argparse.Namespace) -> None:
    from jacquard.lab.rehearsal import service  # noqa: PLC0415 - status and logs start faster without it

    service.down(Region.of(chosen.environment), chosen.cluster)
    _write(f"{chosen.cluster or chosen.environment} is down")


def _status(chosen: argparse.Namespace) -> None:
    found = parts(Region.of(chosen.environment))
    if chosen.format == "json":
        _write(json.dumps({"environment": chosen.environment, "parts": found}, indent=2))
        return
    if not found:
        _write(f"{chosen.environment}: nothing runs")
        return
    rows = [("PART", "STATE", "PROCESS", "PORT", "SINCE"), *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _logs(chosen: argparse.Namespace) -> None:
    region = Region.of(chosen.environment)
    paths = {str(path.relative_to(region.logs))[: -len(".log")]: path for path in _log_files(region)}
    wanted = {name: path for name, path in paths.items() if name.startswith(chosen.part or "")}
    if not paths:
        msg = f"{chosen.environment}: there are no logs; the local region writes them once it is brought up"
        raise RehearsalError(msg)
    if not wanted:
        msg = f"part '{chosen.part}' has no log; there are: {', '.join(paths)}"
        raise RehearsalError(msg)
    for name, path in wanted.items():
        _write(f"==> {name}  ({path})")
        with path.open(encoding="utf-8", errors="replace") as lines:
            sys.stdout.writelines(deque(lines, maxlen=_LINES))


def _log_files(region: Region) -> Iterable[Any]:
    # Each cluster's folder is a link, which a recursive pattern would not follow.
    return sorted([*region.logs.glob("*.log"), *region.logs.glob("*/*.log")])


def _row(part: dict[str, Any]) -> tuple[str, ...]:
    since = part["since"] and dt.datetime.fromisoformat(part["since"]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    state = "running" if part["alive"] else "dead"
    return (part["name"], state, str(part["pid"] or ""), str(part["port"] or ""), since or "")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


_COMMANDS = {"up": _up, "down": _down, "status": _status, "logs": _logs}

if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
