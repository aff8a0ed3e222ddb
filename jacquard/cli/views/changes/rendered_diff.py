"""Difference of rendered objects between base and head, as terminal output and as Markdown for a comment."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from jacquard.cli.console import plural
from jacquard.cli.views.changes.change import COLOURS, of_objects
from jacquard.cli.views.changes.markdown import bounded, bullets, code, cut, fenced, fold
from jacquard.previews.rendered_diff import RenderedDiff, SliceDiff

MARK = "<!-- jacquard render -->"
"""First line of each comment; the next run finds and overwrites the comment with this line."""
_LEFT_OUT = "{} omitted (size limit of comments); `jacquard render --format json` contains all."


def lines(diff: RenderedDiff) -> Iterator[Text]:
    """Yield the text output: each changed object, by slice."""
    yield Text(f"{diff.environment}: {diff.base} -> {diff.head}", "bold")
    for note in _notes(diff):
        yield Text(f"  {note}")
    for slice_diff in diff.slices:
        yield Text("")
        yield Text(_title(diff, slice_diff), "bold")
        for line in of_objects(slice_diff.changes):
            yield Text(f"  {line}", COLOURS.get(line[:1], ""))


def comment(diffs: Sequence[RenderedDiff]) -> str:
    """Return the Markdown: a list per environment, then a collapsible section per slice."""
    count = sum(_objects(slice_diff) for diff in diffs for slice_diff in diff.slices)
    head = [MARK, f"### {_changed(count)}" if count else "### No rendered object changed", ""]
    for diff in diffs:
        head += [f"**{code(diff.environment)}** {code(diff.base)} to {code(diff.head)}", ""]
        head += [bullets([*_notes(diff), *(_title(diff, slice_diff) for slice_diff in diff.slices)]), ""]
    folds = [
        fold(_title(diff, slice_diff), fenced(cut(list(of_objects(slice_diff.changes))), "diff"))
        for diff in diffs
        for slice_diff in diff.slices
    ]
    return bounded(head, folds, _LEFT_OUT)


def _notes(diff: RenderedDiff) -> Iterator[str]:
    if diff.by_head:
        yield f"the code of {diff.base} cannot render its objects; the code of {diff.head} rendered both sides"
    if not diff.slices:
        yield "base and head render the same objects"


def _title(diff: RenderedDiff, slice_diff: SliceDiff) -> str:
    return f"{diff.environment}, {slice_diff.slice}: {_changed(_objects(slice_diff))}"


def _changed(count: int) -> str:
    return f"{plural(count, 'rendered object')} changed"


def _objects(slice_diff: SliceDiff) -> int:
    return sum(len(change.names) for change in slice_diff.changes)
