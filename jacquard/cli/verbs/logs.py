"""``jacquard logs``: what the parts of a local region and the engine write down."""

from __future__ import annotations

import sys
import time
from collections import deque
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from jacquard.cli import arguments, data
from jacquard.cli.console import stdout
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.tables import plain_table
from jacquard.engine.driver import log_folder
from jacquard.machine import paths

ENGINE = "engine"
_LINES = 100
_POLL_SECONDS = 0.3


def logs(
    environment: arguments.Env,
    part: Annotated[
        str | None, typer.Argument(metavar="[PART]", help="One part, or how its name begins; none lists them.")
    ] = None,
    *,
    follow: arguments.FollowOption = False,
) -> None:
    """Show the logs of a local region's parts.

    Parts are its API servers, controllers, simulated hardware, and the engine. Without a part they are listed; with
    one, the last lines of its log are shown.
    """
    found = files(data.known(environment))
    if not found:
        msg = f"{environment}: there are no logs; a local region writes them once 'jacquard up {environment}' has begun"
        raise Stop(msg)
    if part is None:
        _list(found)
        return
    chosen = {name: path for name, path in found.items() if name == part}
    chosen = chosen or {name: path for name, path in found.items() if name.startswith(part)}
    if not chosen:
        raise unknown(part, list(found), what="part", remedy=f"'jacquard logs {environment}' lists all")
    ends = {path: _tail(name, path, titled=len(chosen) > 1) for name, path in chosen.items()}
    if follow:
        _follow(ends)


def files(environment: str) -> dict[str, Path]:
    """Return the logs there are, by the name of their part."""
    folder = paths.logs(environment)
    # A cluster's folder may be a link, which a recursive pattern would not follow.
    found = [*folder.glob("*.log"), *folder.glob("*/*.log")]
    parts = {str(path.relative_to(folder).with_suffix("")): path for path in found}
    engine = log_folder()
    stacks = [*engine.glob(f"{environment}.log"), *engine.glob(f"{environment}.*.log")]
    return dict(sorted(parts.items())) | {f"{ENGINE}/{path.stem}": path for path in sorted(stacks)}


def _list(found: dict[str, Path]) -> None:
    rows = plain_table("part", "bytes", numbers={"bytes"})
    for name, path in found.items():
        rows.add_row(name, f"{path.stat().st_size:,}")
    stdout().print(rows)
    folders = dict.fromkeys(str(_root(name, path)) for name, path in found.items())
    stdout().print(Text(f"they lie in {' and '.join(folders)}", "dim"), soft_wrap=True)


def _root(name: str, path: Path) -> Path:
    return path.parent if name.startswith(f"{ENGINE}/") else path.parents[name.count("/")]


def _tail(name: str, path: Path, *, titled: bool) -> int:
    """Print the end of a log and return where it was read to."""
    if titled:
        stdout().print(Text(f"==> {name}", "bold"))
    with path.open("rb") as file:
        for line in deque(file, maxlen=_LINES):
            sys.stdout.write(line.decode(errors="replace"))
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
        # A log that shrank was begun anew.
        file.seek(end if path.stat().st_size >= end else 0)
        sys.stdout.write(file.read().decode(errors="replace"))
        return file.tell()
