"""What a change does, as the Markdown of a comment: bounded, equal for equal input, and inert whatever names say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect, worst_of
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.changes.markdown import bounded, bullets, code, fold, table
from jacquard.previews.attestations.approvals import missing
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact

MARK = "<!-- jacquard impact -->"
"""Begins each comment, so that the next run finds it and writes over it."""
_LEFT_OUT = "{} left out, since a comment has its limit: `jacquard impact --format json` tells all."
_LATER = {"charts": view.charts, "lost": view.lost, "behind": view.behind, "elsewhere": view.elsewhere}


def comment(impacts: Sequence[Impact]) -> str:
    """Return the comment: the verdict of each environment first, then what there is to say of each, worst first."""
    head = [MARK, f"### {_headline(impacts)}", ""]
    for impact in impacts:
        head += [f"**{code(impact.environment)}**", "", bullets(view.verdict(impact)), ""]
    return bounded(head, [section for one in impacts for section in (*overview(one), *reasons(one))], _LEFT_OUT)


def disturbs(impacts: Sequence[Impact]) -> str:
    """Return in words whether anything that runs is disturbed."""
    worst = worst_of(impact.effect for impact in impacts)
    if worst in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED):
        return f"Impact: {worst}"
    return "Nothing that runs is disturbed"


def overview(impact: Impact) -> Iterator[str]:
    """Yield the table of what a change touches, and whom that concerns."""
    if parts := view.parts(impact.rows):
        columns = view.columns(parts)
        yield table(columns, (view.cells(part)[: len(columns)] for part in parts))
    if told := list(view.tenants(impact)):
        yield "\n".join(["", "Tenants:", "", bullets(told)])


def reasons(impact: Impact) -> Iterator[str]:
    """Yield folds with what touches each part, what is lost, and what waits."""
    for part in view.parts(impact.rows):
        title, *rest = (text.plain for text in view.reasons(part) if text.plain)
        yield fold(title, bullets(rest))
    for name, lines in _LATER.items():
        if later := [text.plain for text in lines(impact) if text.plain.strip()]:
            yield fold(f"{impact.environment}: {name}", bullets(later))


def _headline(impacts: Sequence[Impact]) -> str:
    asked = dict.fromkeys(one.tenant for impact in impacts for one in missing(impact))
    return f"Needs the word of {', '.join(map(code, asked))}" if asked else disturbs(impacts)
