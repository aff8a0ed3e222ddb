"""Edits of hand-written files that preserve all other content byte for byte, including comments and line breaks."""

import io
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

import yaml
from ruamel.yaml import YAML
from yaml import CollectionNode, Node


def edited(text: str, edit: Callable[[Any], Any]) -> str:
    """Return ``text`` with ``edit`` applied to its document. Unchanged entries keep their bytes.

    A file whose indentation new entries would contradict gets the layout of the YAML writer; comments are preserved.

    Args:
        text: Text of a YAML file without problems.
        edit: Function that takes the document of ruamel.yaml's round-trip reader and returns the edited document.
    """
    untouched, changed = rewritten(text, lambda document: document), rewritten(text, edit)
    if changed == untouched:
        return text
    merged = _merged(text if text.endswith("\n") else f"{text}\n", untouched, changed)
    return merged if _are_equal(merged, changed) else changed


def rewritten(text: str, edit: Callable[[Any], Any]) -> str:
    """Return ``text`` with ``edit`` applied, in the layout of the YAML writer. Comments and order are preserved."""
    stream = io.StringIO()
    _round_trip().dump(edit(loaded(text)), stream)
    return stream.getvalue()


def loaded(text: str) -> Any:
    """Return ``text`` as a value that an edit can insert into a document. Its style and quotes are preserved."""
    return _round_trip().load(text)


def _round_trip() -> YAML:
    """Return a YAML reader and writer that preserves the formatting of unchanged content."""
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 4096
    writer.indent(mapping=2, sequence=4, offset=2)
    return writer


def _are_equal(text: str, other: str) -> bool:
    """Return whether both texts are YAML with the same content; ``other`` is."""
    try:
        return bool(_content(text) == _content(other))
    except yaml.YAMLError:
        return False


def _content(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - it creates only texts, lists and mappings


def _merged(original: str, untouched: str, changed: str) -> str:
    """Return ``original`` with the changes from ``untouched`` to ``changed``.

    The YAML writer keeps comments and order, but not all line breaks within brackets. Entries that the edit does not
    change keep their original bytes, even when neighbouring entries change.
    """
    base, ours, theirs = (text.splitlines(keepends=True) for text in (untouched, original, changed))
    same = _matches(base, theirs)
    merged: list[str] = []
    done = our_done = their_done = 0
    for (start, our_start), (end, our_end) in pairwise(_cuts(base, ours)):
        their_start, count = same.get(start, -1), end - start
        if count and all(same.get(start + step) == their_start + step for step in range(count)):
            merged += _merged_lines(base[done:start], ours[our_done:our_start], theirs[their_done:their_start])
            merged += ours[our_start:our_end]
            done, our_done, their_done = end, our_end, their_start + count
    return "".join([*merged, *_merged_lines(base[done:], ours[our_done:], theirs[their_done:])])


def _merged_lines(base: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    """Return ``ours`` with the changes from ``base`` to ``theirs``, merged line by line."""
    same_ours, same_theirs = _matches(base, ours), _matches(base, theirs)
    merged: list[str] = []
    start = our = their = 0
    for index in [*(index for index in range(len(base)) if index in same_ours and index in same_theirs), len(base)]:
        our_next, their_next = same_ours.get(index, len(ours)), same_theirs.get(index, len(theirs))
        unchanged = base[start:index] == theirs[their:their_next]
        merged += ours[our:our_next] if unchanged else theirs[their:their_next]
        merged += base[index : index + 1]
        start, our, their = index + 1, our_next + 1, their_next + 1
    return merged


def _cuts(base: list[str], other: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the boundaries of entries in ``base``, with the matching line of ``other`` (the same document reformatted).

    Comments and empty lines between two entries belong to neither entry.
    """
    roots = (yaml.compose("".join(lines), Loader=yaml.CSafeLoader) for lines in (base, other))
    starts = dict([(0, 0), *_lines_of(*roots), (len(base), len(other))])
    yield 0, 0
    for (start, other_start), (end, other_end) in pairwise((line, starts[line]) for line in sorted(starts)):
        between = 0
        while between < min(end - start, other_end - other_start) - 1 and _is_between(base[end - between - 1]):
            between += 1
        if between and base[end - between : end] == other[other_end - between : other_end]:
            yield end - between, other_end - between
        yield end, other_end


def _is_between(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _lines_of(base: Node | None, other: Node | None) -> Iterator[tuple[int, int]]:
    """Yield the first lines of each entry in ``base`` and in ``other``. Entries within brackets are skipped."""
    if not isinstance(base, CollectionNode) or not isinstance(other, CollectionNode):
        return
    if not base.flow_style and not other.flow_style:
        for mine, twin in zip(base.value, other.value, strict=True):
            (begin, value), (twin_begin, twin_value) = (
                entry if isinstance(entry, tuple) else (entry, entry) for entry in (mine, twin)
            )
            yield begin.start_mark.line, twin_begin.start_mark.line
            yield from _lines_of(value, twin_value)


def _matches(base: list[str], other: list[str]) -> dict[int, int]:
    """Return the unchanged lines as a mapping from index in ``base`` to index in ``other``."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
