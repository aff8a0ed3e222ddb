"""Affected parts as table rows, with the changed fields of objects and the edits that caused them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect
from components.specs.struct import Struct
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.report.signs import Sign, of_effect
from jacquard.previews.impacts.hosts import Move
from jacquard.previews.impacts.impact import Cause, Forced, Impact, Row

MOST_CAUSES = 200
"""Maximum number of edits listed per part; further edits are counted."""


class Reason(Struct):
    """Equal changes of objects."""

    effect: Effect
    kind: str
    path: str
    objects: int
    first: str
    why: str
    source: str


class Part(Struct):
    """Rows that share a table row."""

    sign: Sign
    name: str
    tenant: str | None
    cells: tuple[str, ...]
    """Cells in the order of the columns of the table."""
    reasons: tuple[Reason, ...]
    causes: tuple[Cause, ...]
    more_causes: int
    """Number of edits that are not listed."""


def parts(impact: Impact) -> tuple[tuple[str, ...], tuple[Part, ...], dict[int, int]]:
    """Return the columns and the parts of an impact, the worst first, and the index of the part of each row."""
    index = {id(row): number for number, row in enumerate(impact.rows)}
    grouped = view.parts(impact.rows)
    columns, cells = view.table_of(grouped)
    affected = tuple(_part(rows, row_cells) for rows, row_cells in zip(grouped, cells, strict=True))
    return columns, affected, {index[id(row)]: number for number, rows in enumerate(grouped) for row in rows}


def _part(rows: Sequence[Row], cells: tuple[str, ...]) -> Part:
    causes = list(dict.fromkeys(cause for row in rows for cause in row.causes))
    return Part(
        sign=of_effect(rows[0].effect, _move(rows)),
        name=cells[view.COLUMNS.index("part")],
        tenant=rows[0].tenant,
        cells=cells,
        reasons=tuple(_reasons(rows)),
        causes=tuple(causes[:MOST_CAUSES]),
        more_causes=max(0, len(causes) - MOST_CAUSES),
    )


def _move(rows: Sequence[Row]) -> Move | None:
    change = sum(row.change or 0 for row in rows)
    return (Move.COMES if change > 0 else Move.GOES) if change else None


def _reasons(rows: Sequence[Row]) -> Iterator[Reason]:
    alike: dict[tuple[Effect, str, str, str, str | None], list[Forced]] = defaultdict(list)
    for forced in (change for row in rows for change in row.forced_by):
        alike[forced.effect, forced.kind, forced.path, forced.why, forced.source].append(forced)
    for (effect, kind, path, why, source), same in alike.items():
        yield Reason(
            effect=effect,
            kind=kind,
            path=path,
            objects=len(frozenset[str]().union(*(forced.names for forced in same))),
            first=same[0].first,
            why=why,
            source=source or "none, effect unknown",
        )
