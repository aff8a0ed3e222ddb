"""Markdown for pull request comments: bounded, deterministic, and safe for any values.

Values from data are written as code, in which forges do not expand mentions, links or HTML. Other text consists of
plain words and numbers.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from rich.text import Text

from components.specs.reading.problems import visible
from jacquard.cli.console import plural
from jacquard.cli.views.changes.values import pieces

LIMIT_BYTES = 60_000
"""Maximum size of a comment; forges truncate longer ones at arbitrary places."""
FOLD_BYTES = 12_000
"""Maximum size of one collapsible section; without it, one part of a change could displace all others."""
_ROOM_BYTES = 40
"""Space reserved for the number of omitted lines or sections."""
_TICKS = re.compile(r"`+")
_FENCE = 3
_PIECES = re.compile(r"\((?=')|(?<![^\s(])'[^']+'(?=[\s),;:.]|$)|\S+")
"""Quoted texts, such as commands, and words."""
_WORD = re.compile(r"(\(*)(.*?)([),;:.]*)", re.DOTALL)
"""A word between punctuation."""
_PLAIN = re.compile(r"[A-Za-z]+('[a-z]+)?|re-flashed|[-+]?[0-9][0-9,.]*%?|-|->|\?|")
"""Words and numbers that no forge expands; all others are values."""


def code(text: str) -> str:
    """Return ``text`` as a code span; backticks in ``text`` cannot end the span."""
    shown = visible(text)
    ticks = "`" * (_longest(shown) + 1)
    padding = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{ticks}{padding}{shown}{padding}{ticks}"


def prose(line: str | Text, code: Callable[[str], str] = code) -> str:
    """Return a line in which only values, quoted texts and words with special characters are code.

    Args:
        line: text in which a style can mark values.
        code: function that returns a value as code.
    """

    def written(match: re.Match[str]) -> str:
        text = match[0]
        if len(text) > 1 and text[0] == text[-1] == "'":
            return code(text[1:-1])
        opening, word, closing = re.fullmatch(_WORD, text).groups()  # type: ignore[union-attr]  # matches any text
        if "(" in word:
            word, closing = f"{word}{closing}", ""
        return text if _PLAIN.fullmatch(word) else f"{opening}{code(word)}{closing}"

    parts = pieces(line) if isinstance(line, Text) else [(line, False)]
    texts = (code(text) if is_value else _PIECES.sub(written, visible(text)) for text, is_value in parts if text)
    return "".join(texts).strip()


def bullets(lines: Iterable[str | Text]) -> str:
    """Return a bullet list."""
    return "\n".join(f"- {prose(line)}" for line in lines)


def fenced(lines: Sequence[str], language: str = "") -> str:
    """Return lines as a code block; backticks in the lines cannot end the block."""
    shown = [visible(line) for line in lines]
    ticks = "`" * max(_FENCE, max(map(_longest, shown), default=0) + 1)
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with ``columns`` as header."""
    body = [f"| {' | '.join(prose(cell).replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(["", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *body])


def fold(title: str, body: str) -> str:
    """Return a collapsible section."""
    return f"\n<details><summary>{prose(title, _html)}</summary>\n\n{body}\n\n</details>"


def cut(lines: Sequence[str], most_bytes: int = FOLD_BYTES) -> list[str]:
    """Return the first lines that fit into ``most_bytes``, and a line with the number of omitted ones."""
    kept: list[str] = []
    size = 0
    for index, line in enumerate(lines):
        size += len(visible(line).encode()) + 1
        if size > most_bytes:
            return [*kept, f"and {plural(len(lines) - index, 'more line')}"]
        kept.append(line)
    return kept


def bounded(head: Sequence[str], sections: Sequence[str], left_out: str, foot: Sequence[str] = ()) -> str:
    """Return a comment with as many lines of ``head`` and whole sections as fit, and the number of omitted sections.

    Args:
        head: lines that are included first; only lines beyond the size limit are omitted.
        sections: the most important first; a small section can follow a large, omitted section.
        left_out: text about omitted sections, with a placeholder for their number and noun.
        foot: lines that are always included.
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


def _html(text: str) -> str:
    """Return ``text`` as code in HTML, in which forges do not expand Markdown."""
    escaped = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return f"<code>{escaped}</code>"
