"""Impact of an edit of an example environment, as lines for tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from components.specs.reading.loader import load_environment
from jacquard.previews.compare import impact
from jacquard.previews.impacts.edits import edits
from jacquard.previews.impacts.impact import Impact, Row
from jacquard.previews.impacts.trials import Trials
from jacquard.previews.snapshots import Side, side
from tests.support.data.environment_data import copy_data, copy_fleet, reference, root_of
from tests.support.data.workbench import Workbench

NOW = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)


def edited(folder: Path, name: str, changes: Sequence[Sequence[str]], then: Sequence[str]) -> Workbench:
    """Return a copy of environment ``name`` in ``folder`` after edits and the commands that follow them.

    An edit is a file with an old and a new text, a file with a text to append, or a file to delete.
    """
    bench = Workbench(copy_data(folder / "environments", name), name)
    if reference(name).fleet_dns:
        copy_fleet(bench.root)
    edit(bench, changes, then)
    return bench


def edit(bench: Workbench, changes: Sequence[Sequence[str]], then: Sequence[str]) -> None:
    """Edit the files of ``bench``, and run the commands ``then``."""
    for file, *texts in changes:
        path = bench.folder / file
        match texts:
            case [old, new]:
                bench.edit(file, old, new)
            case [more]:
                path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + more, encoding="utf-8")
            case _:
                path.unlink()
    for command in then:
        verb, *rest = command.split()
        getattr(bench, verb)(*rest)


def impact_of(bench: Workbench, base: Path | None = None) -> Impact:
    """Return the impact of the environment of ``bench``, compared with the one in ``base`` (default: the reference)."""
    before = side(load_environment(bench.name, base)) if base else _reference_side(bench.name)
    base, head = base or root_of(bench.name), bench.load()
    return impact(
        before,
        side(head),
        edits(base, bench.root, bench.name),
        names=("base", "head"),
        now=NOW,
        trials=Trials(before, head, base),
    )


@lru_cache(maxsize=2)
def _reference_side(name: str) -> Side:
    """Return a reference environment with its objects, which tables compare with the result of each edit."""
    return side(reference(name))


def lines(found: Impact) -> list[str]:
    """Return an impact as lines: its rows, kinds of destructive changes, and fields that require a promotion."""
    lost = [f"{one.outcome}: {one.kind.rpartition('/')[2]} {one.name}" for one in found.lost]
    behind = [f"behind: {one.pool} {', '.join(one.fields)}" for one in found.behind if one.new]
    charts = [f"{one.cluster}: {one.told}" for one in found.charts]
    return [*rows(found), *charts, *lost, *behind]


def rows(found: Impact) -> list[str]:
    """Return a line for each row of an impact."""
    return [_line(row) for row in found.rows]


def _line(row: Row) -> str:
    parts = [f"{row.effect} {row.falls_on} {row.part}"]
    if row.change is not None:
        parts.append(f"{row.change:+d}")
    elif row.count is not None:
        parts.append(str(row.count))
    if row.gpus:
        parts.append(f"{row.gpus} GPUs")
    if row.hosts and row.tenant:
        parts.append(f"of {row.tenant}")
    if row.release:
        parts.append(f"{row.release.out_at_once} away")
    if row.roll:
        parts.append(f"{row.roll.out_at_once} away, {row.roll.spares_left} of {row.roll.spares_floor} spares")
    places = sorted({(cause.file, cause.line) for cause in row.causes})
    by = " ".join(f"{file}:{line}" for file, line in places[:3])
    together = "" if all(cause.alone for cause in row.causes) else "together "
    return f"{', '.join(parts)}; {together}by {by}{' and more' if len(places) > 3 else ''}"
