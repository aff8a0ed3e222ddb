"""What a change does, as the Markdown of a comment: bounded, equal for equal input, and inert whatever names say.

All that comes from data stands in code spans, where no forge looks for mentions, links or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cli.console import plural
from cli.views import impact as view
from components.plan.effects.effect import Effect, worst_of
from components.specs.problems import visible
from previews.agreement import missing
from previews.impact import DISRUPTIVE, Impact, Row

MARK = "<!-- jacquard impact -->"
"""Begins each comment, so that the next run finds it and writes over it."""
LIMIT_BYTES = 60_000
"""Most bytes of a comment; forges that cut longer ones cut them anywhere."""
_DROPPED = "\n\n{} left out, since a comment has its limit: `jacquard impact --format json` tells all.\n"
_ROOM_BYTES = len(_DROPPED) + 40
_LATER = {"lost": view.lost, "behind": view.behind, "elsewhere": view.elsewhere}
_TICKS = re.compile(r"`+")


def comment(impacts: Sequence[Impact]) -> str:
    """Return the comment: the verdict of each environment first, then what there is to say of each, worst first."""
    head = "\n".join([MARK, f"### {_headline(impacts)}", "", *(_verdict(impact) for impact in impacts)])
    sections = [section for impact in impacts for section in _sections(impact)]
    return _bounded(head, sections)


def code(text: str) -> str:
    """Return ``text`` as a code span that nothing in it can end."""
    shown = visible(text)
    fence = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    padding = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def _headline(impacts: Sequence[Impact]) -> str:
    worst = worst_of(impact.effect for impact in impacts)
    asked = dict.fromkeys(one.tenant for impact in impacts for one in missing(impact))
    if asked:
        return f"Needs the word of {', '.join(map(code, asked))}"
    if worst in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED):
        return f"Impact: {worst}"
    return "Nothing that runs is disturbed"


def _verdict(impact: Impact) -> str:
    return "\n".join([f"**{code(impact.environment)}**", "", *(f"- {code(line)}" for line in view.verdict(impact)), ""])


def _sections(impact: Impact) -> Iterator[str]:
    parts = view.parts(impact.rows)
    if parts:
        yield _table(parts)
    if impact.tenants:
        yield "\n".join(["", "Tenants:", "", *(f"- {code(line)}" for line in view.tenants(impact))])
    for part in parts:
        title, *rest = (text.plain for text in view.reasons(part) if text.plain)
        yield _fold(title, rest)
    for title, lines in _LATER.items():
        told = [text.plain.strip() for text in lines(impact) if text.plain.strip()]
        if told:
            yield _fold(f"{impact.environment}: {title}", told)


def _table(parts: Sequence[Sequence[Row]]) -> str:
    columns = view.columns(parts)
    found = [view.cells(part)[: len(columns)] for part in parts]
    rows = [f"| {' | '.join(code(cell).replace('|', '&#124;') for cell in cells)} |" for cells in found]
    return "\n".join(["", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *rows])


def _fold(title: str, lines: Sequence[str]) -> str:
    body = "\n".join(f"- {code(line.strip())}" for line in lines)
    return f"\n<details><summary>{_text(title)}</summary>\n\n{body}\n\n</details>"


def _text(text: str) -> str:
    """Return ``text`` for HTML, where no Markdown is read."""
    escaped = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return f"<code>{escaped}</code>"


def _bounded(head: str, sections: Sequence[str]) -> str:
    """Return as many whole sections as fit, and how many do not."""
    kept, size = [head], len(head.encode())
    for index, section in enumerate(sections):
        size += len(section.encode()) + 1
        if size > LIMIT_BYTES - _ROOM_BYTES:
            return "\n".join(kept) + _DROPPED.format(plural(len(sections) - index, "section"))
        kept.append(section)
    return "\n".join(kept) + "\n"
