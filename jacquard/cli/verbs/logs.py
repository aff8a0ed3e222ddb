"""``jacquard logs``: logs of the components of a local region and of the engine."""

import sys
import time
from collections import deque
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from jacquard.cli import arguments, data
from jacquard.cli.console import stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.tables import plain_table
from jacquard.engine.driver import log_folder
from jacquard.machine import paths

ENGINE = "engine"
_LINES = 100
_POLL_SECONDS = 0.3


def logs(
    environment: arguments.Env,
    component: Annotated[
        str | None, typer.Argument(metavar="COMPONENT", help="Component name or prefix. Omit to list components.")
    ] = None,
    *,
    follow: arguments.FollowOption = False,
) -> None:
    """Show the logs of a local region's components.

    Components are API servers, controllers, simulated hardware, and the engine. Shows the last lines of the log of a
    component, or lists the components. Exits with 7 if the region has no logs.
    """
    logs_by_name = files(data.known(environment))
    if not logs_by_name:
        msg = f"{environment}: there are no logs; if the region is local, 'jacquard up {environment}' creates them"
        raise Stop(msg, ExitCode.UNREACHABLE)
    if component is None:
        _list(logs_by_name)
        return
    chosen = {name: path for name, path in logs_by_name.items() if name == component}
    chosen = chosen or {name: path for name, path in logs_by_name.items() if name.startswith(component)}
    if not chosen:
        remedy = f"'jacquard logs {environment}' lists all"
        raise unknown(component, list(logs_by_name), what="component", remedy=remedy)
    ends = {path: _tail(name, path, titled=len(chosen) > 1) for name, path in chosen.items()}
    if follow:
        _follow(ends)


def files(environment: str) -> dict[str, Path]:
    """Return the existing logs by component name."""
    folder = paths.logs(environment)
    # The folder of a cluster may be a symbolic link, which a recursive pattern does not follow.
    logs_of_parts = [*folder.glob("*.log"), *folder.glob("*/*.log")]
    parts = {str(path.relative_to(folder).with_suffix("")): path for path in logs_of_parts}
    engine = log_folder()
    stacks = [*engine.glob(f"{environment}.log"), *engine.glob(f"{environment}.*.log")]
    return dict(sorted(parts.items())) | {f"{ENGINE}/{path.stem}": path for path in sorted(stacks)}


def _list(logs_by_name: dict[str, Path]) -> None:
    rows = plain_table("component", "bytes", numbers={"bytes"})
    for name, path in logs_by_name.items():
        rows.add_row(name, f"{path.stat().st_size:,}")
    stdout().print(rows)
    folders = dict.fromkeys(str(_root(name, path)) for name, path in logs_by_name.items())
    stdout().print(Text(f"folders: {' and '.join(folders)}", "dim"), soft_wrap=True)


def _root(name: str, path: Path) -> Path:
    return path.parent if name.startswith(f"{ENGINE}/") else path.parents[name.count("/")]


def _tail(name: str, path: Path, *, titled: bool) -> int:
    """Print the last lines of a log and return the offset of its end."""
    if titled:
        stdout().print(Text(f"==> {name}", "bold"))
    with path.open("rb") as file:
        for line in deque(file, maxlen=_LINES):
            write_text(line.decode(errors="replace"))
        return file.tell()


def _follow(ends: dict[Path, int]) -> None:
    try:
        while True:
            sys.stdout.flush()
            time.sleep(_POLL_SECONDS)
            for path, end in ends.items():
                ends[path] = _news(path, end)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def _news(path: Path, end: int) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        # A log that is shorter than before was truncated or recreated.
        file.seek(end if path.stat().st_size >= end else 0)
        write_text(file.read().decode(errors="replace"))
        return file.tell()
