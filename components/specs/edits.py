"""Edits of files that people write: what is not asked for stays to the byte, comments and line breaks included."""

from __future__ import annotations

import io
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

from ruamel.yaml import YAML


def edited(text: str, edit: Callable[[Any], Any]) -> str:
    """Return ``text`` with an edit of its document.

    Args:
        text: of a YAML file that was read without a problem.
        edit: gets the document as ruamel.yaml's round-trip reader has it, and returns what it is to be.
    """
    return _merged(text, rewritten(text, lambda document: document), rewritten(text, edit))


def rewritten(text: str, edit: Callable[[Any], Any]) -> str:
    """Return ``text`` with an edit of its document, as the writer lays it out; comments and order stay."""
    stream = io.StringIO()
    _round_trip().dump(edit(loaded(text)), stream)
    return stream.getvalue()


def loaded(text: str) -> Any:
    """Return ``text`` as a value that an edit can put into a document, with its form and quotes."""
    return _round_trip().load(text)


def _round_trip() -> YAML:
    """Return a reader and writer that leaves alone what it is not asked to change."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _merged(original: str, untouched: str, moved: str) -> str:
    """Return ``original`` with the changes from ``untouched`` to ``moved``.

    The writer keeps comments and order, but not each line break within brackets; what the migration did not change
    stays as it was written to the byte.
    """
    base, ours, theirs = (text.splitlines(keepends=True) for text in (untouched, original, moved))
    same_ours, same_theirs = _matches(base, ours), _matches(base, theirs)
    merged: list[str] = []
    start = our = their = 0
    for index in [*(index for index in range(len(base)) if index in same_ours and index in same_theirs), len(base)]:
        our_next, their_next = same_ours.get(index, len(ours)), same_theirs.get(index, len(theirs))
        unchanged = base[start:index] == theirs[their:their_next]
        merged += ours[our:our_next] if unchanged else theirs[their:their_next]
        merged += base[index : index + 1]
        start, our, their = index + 1, our_next + 1, their_next + 1
    return "".join(merged)


def _matches(base: list[str], other: list[str]) -> dict[int, int]:
    """Return which line of ``other`` each line of ``base`` became, where it did not change."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
