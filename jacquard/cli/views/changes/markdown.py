"""Markdown for comments of pull requests: bounded, equal for equal input, and inert whatever values say.

All that comes from data stands in code, where no forge looks for mentions, links or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from components.specs.reading.problems import visible
from jacquard.cli.console import plural

LIMIT_BYTES = 60_000
"""Most bytes of a comment; forges that cut longer ones cut them anywhere."""
FOLD_BYTES = 12_000
"""Most bytes of the lines of one fold, so that one part of a change does not crowd out all others."""
_ROOM_BYTES = 40
"""What counts of what is left out take, once they are written."""
_TICKS = re.compile(r"`+")
_FENCE = 3


def code(text: str) -> str:
    """Return ``text`` as a code span that nothing in it can end."""
    shown = visible(text)
    ticks = "`" * (_longest(shown) + 1)
    padding = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{ticks}{padding}{shown}{padding}{ticks}"


def bullets(lines: Iterable[str]) -> str:
    """Return a list, each line in code."""
    return "\n".join(f"- {code(line.strip())}" for line in lines)


def fenced(lines: Sequence[str], language: str = "") -> str:
    """Return lines as a block of code that nothing in them can end."""
    shown = [visible(line) for line in lines]
    ticks = "`" * max(_FENCE, max(map(_longest, shown), default=0) + 1)
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table below ``columns``, each cell in code."""
    body = [f"| {' | '.join(code(cell).replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(["", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *body])


def fold(title: str, body: str) -> str:
    """Return Markdown that shows once its title is clicked."""
    return f"\n<details><summary>{_text(title)}</summary>\n\n{body}\n\n</details>"


def cut(lines: Sequence[str], most_bytes: int = FOLD_BYTES) -> list[str]:
    """Return the first lines as far as they fit, and how many more there are."""
    kept: list[str] = []
    size = 0
    for index, line in enumerate(lines):
        size += len(visible(line).encode()) + 1
        if size > most_bytes:
            return [*kept, f"and {plural(len(lines) - index, 'more line')}"]
        kept.append(line)
    return kept


def bounded(head: Sequence[str], sections: Sequence[str], left_out: str, foot: Sequence[str] = ()) -> str:
    """Return a comment: as many lines of ``head`` and whole sections as fit, and how many do not.

    Args:
        head: what is never left out, unless it is too long by itself.
        sections: the most important first; a small one still follows a large one that does not fit.
        left_out: said of sections that are, with a place for their number and noun.
        foot: what is never left out either.
    """
    end = cut(foot)
    most = LIMIT_BYTES - len("\n".join([left_out, *end]).encode()) - _ROOM_BYTES
    kept = cut(head, most - _ROOM_BYTES)
    size, dropped = len("\n".join(kept).encode()), 0
    for section in sections:
        length = len(section.encode()) + 1
        if size + length > most:
            dropped += 1
            continue
        kept.append(section)
        size += length
    if dropped:
        kept.append(f"\n{left_out.format(plural(dropped, 'section'))}")
    return "\n".join([*kept, *end, ""])


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _text(text: str) -> str:
    """Return ``text`` for HTML, where no Markdown is read."""
    escaped = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return f"<code>{escaped}</code>"
