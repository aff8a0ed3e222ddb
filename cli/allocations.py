"""``jacquard allocate`` and ``jacquard promote``: the two commands that write lock files."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli import arguments, data
from cli.console import Format, plural, print_json, stdout
from cli.errors import Stop
from components.plan.allocation import allocate as allocation
from components.plan.checks import check_data
from components.plan.promotion import promote as promotion
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.problems import SpecError
from components.specs.store import lock_text, write_locks
from toolchain import paths

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def allocate(
    environment: arguments.Env,
    *,
    check: arguments.CheckOption = False,
    output: arguments.FormatOption = Format.HUMAN,
) -> None:
    """Write the numbers that the data leaves open.

    Numbers are prefixes, addresses, host assignments and the first image pins of new rollout groups. What is
    allocated stays, what is missing is added, what belongs to nothing is freed. Pins are never moved: that is what
    promote does. Review the change like any other.
    """
    spec = data.load(environment)
    problems = check_data(spec)
    if problems:
        raise SpecError(environment, problems)
    numbers, pins = allocation(spec)
    diff = changes(spec, numbers, pins)
    if output is Format.JSON:
        print_json(
            {"environment": environment, "changed": bool(diff), "written": bool(diff) and not check, "diff": diff}
        )
    elif diff:
        show_diff(stdout(), diff)
    else:
        stdout().print(Text(f"{environment}: everything is allocated, nothing to change"))
    if diff and check:
        msg = f"{environment}: lock files do not fit the data; run 'jacquard allocate {environment}' and review it"
        raise Stop(msg)
    if diff:
        write_locks(spec, paths.environments(), numbers, pins)


def promote(
    environment: arguments.Env,
    pool: Annotated[str, typer.Argument(metavar="CLUSTER/POOL", help="The pool, such as acme-train/train.")],
    version: Annotated[str, typer.Option("--to", metavar="VERSION", help="Image of the catalogue to pin.")],
    wave: Annotated[
        int | None,
        typer.Option("--wave", min=1, metavar="N", help="Move the next N rollout groups only. Default: all."),
    ] = None,
    output: arguments.FormatOption = Format.HUMAN,
) -> None:
    """Pin another golden image for a pool.

    This edits a lock file, to be reviewed like any change; 'up' then rolls the nodes. With --wave the next N
    rollout groups move, in order of their failure domain; run it again for the next ones.
    """
    spec = data.checked(environment)
    lock = promotion(spec, pool, version, wave)
    groups = sorted(key for key, pin in lock.groups.items() if pin != spec.image_pins.groups[key])
    diff = changes(spec, spec.allocations, lock)
    write_locks(spec, paths.environments(), spec.allocations, lock)
    if output is Format.JSON:
        print_json({"environment": environment, "pool": pool, "version": version, "groups": groups, "diff": diff})
        return
    if not groups:
        stdout().print(Text(f"{pool}: every rollout group is pinned to {version} already, nothing to change"))
        return
    show_diff(stdout(), diff)
    moved = plural(len(groups), "rollout group")
    stdout().print(Text(f"{pool}: {moved} moved to {version}; next: jacquard preview {environment}"), soft_wrap=True)


def changes(environment: Environment, numbers: AllocationsLock, pins: ImagesLock) -> list[str]:
    """Return the difference to the lock files as they are, line by line; empty when there is none."""
    folder = paths.environments() / environment.name
    lines: list[str] = []
    for name, lock in (("allocations.lock.yaml", numbers), ("images.lock.yaml", pins)):
        before = _text(folder / name).splitlines()
        label = f"{environment.name}/{name}"
        lines += difflib.unified_diff(before, lock_text(lock).splitlines(), label, label, lineterm="", n=0)
    return lines


def show_diff(console: Console, lines: list[str]) -> None:
    """Print a difference in the colours of one."""
    for line in lines:
        console.print(Text(line, _DIFF_STYLES.get(line[:1], "")), soft_wrap=True)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
