"""Which objects a change renders otherwise, for people at a terminal and as the Markdown of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from jacquard.cli.console import plural
from jacquard.cli.views.changes.change import COLOURS, of_objects
from jacquard.cli.views.changes.markdown import bounded, bullets, code, cut, fenced, fold
from jacquard.previews.rendered_diff import RenderedDiff, SliceDiff

MARK = "<!-- jacquard render -->"
"""Begins each comment, so that the next run finds it and writes over it."""
_LEFT_OUT = "{} left out, since a comment has its limit: `jacquard render --format json` tells all."


def lines(diff: RenderedDiff) -> Iterator[Text]:
    """Yield what a person reads: each object that is another, below its slice."""
    yield Text(f"{diff.environment}: {diff.base} -> {diff.head}", "bold")
    for said in _said(diff):
        yield Text(f"  {said}")
    for one in diff.slices:
        yield Text("")
        yield Text(_title(diff, one), "bold")
        for line in of_objects(one.changes):
            yield Text(f"  {line}", COLOURS.get(line[:1], ""))


def comment(diffs: Sequence[RenderedDiff]) -> str:
    """Return the Markdown: what is said of each environment, then a fold for each slice."""
    count = sum(_objects(one) for diff in diffs for one in diff.slices)
    head = [MARK, f"### {plural(count, 'object')} rendered otherwise" if count else "### Renders the same objects", ""]
    for diff in diffs:
        head += [f"**{code(diff.environment)}** {code(diff.base)} to {code(diff.head)}", ""]
        head += [bullets([*_said(diff), *(_title(diff, one) for one in diff.slices)]), ""]
    folds = [
        fold(_title(diff, one), fenced(cut(list(of_objects(one.changes))), "diff"))
        for diff in diffs
        for one in diff.slices
    ]
    return bounded(head, folds, _LEFT_OUT)


def _said(diff: RenderedDiff) -> Iterator[str]:
    if diff.by_head:
        yield f"unknown: what the code of {diff.base} rendered; the code of {diff.head} rendered both"
    if not diff.slices:
        yield "base and head render the same objects"


def _title(diff: RenderedDiff, one: SliceDiff) -> str:
    return f"{diff.environment}, {one.slice}: {plural(_objects(one), 'object')} rendered otherwise"


def _objects(one: SliceDiff) -> int:
    return sum(len(change.names) for change in one.changes)
