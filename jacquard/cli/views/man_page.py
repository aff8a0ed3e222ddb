"""The reference of all verbs as a manual page, made from the same text as the page in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from jacquard.cli.views import commands

FILE = "docs/reference/jacquard.1"
_HEAD = r""".\" written by jacquard schema --write from the help of each verb; do not edit
.TH JACQUARD 1 "" "" "Jacquard"
.SH NAME
jacquard \- a GPU cloud region as code
.SH DESCRIPTION
"""
_SECTION = "h2"
_BOLD, _PLAIN = r"\fB", r"\fR"


def text() -> str:
    """Return the manual page as roff, for ``man``."""
    return _HEAD + "".join(f"{line}\n" for line in _lines(MarkdownIt().parse(commands.text())))


def _lines(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the lines of the page for the blocks of the one in Markdown, whose title and comment it has itself."""
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "fence":
            yield from (".PP", ".RS 4", ".EX", *(_line(line) for line in token.content.splitlines()), ".EE", ".RE")
        elif token.type == "inline" and before is not None:
            yield from _paragraph(before.tag, before.type == "heading_open", before.hidden, token.children or [])


def _paragraph(tag: str, heading: bool, item: bool, parts: Sequence[Token]) -> Iterator[str]:  # noqa: FBT001
    words = _words(parts)
    if heading and tag != "h1":
        yield f".SH {words.upper()}" if tag == _SECTION else f".SS {words}"
    elif item:
        name, _, rest = words.partition(": ")
        yield from (".TP", name, *([_line(rest)] if rest else []))
    elif not heading:
        yield from (".PP", _line(words))


def _words(parts: Sequence[Token]) -> str:
    return "".join(_word(part) for part in parts)


def _word(part: Token) -> str:
    match part.type:
        case "code_inline":
            return f"{_BOLD}{_escaped(part.content)}{_PLAIN}"
        case "strong_open":
            return _BOLD
        case "strong_close":
            return _PLAIN
        case "softbreak":
            return " "
    return _escaped(part.content)


def _escaped(words: str) -> str:
    return words.replace("\\", r"\e").replace("-", r"\-")


def _line(words: str) -> str:
    """Return ``words`` as a line that is no request, whatever it begins with."""
    return rf"\&{words}" if words.startswith((".", "'")) else words
