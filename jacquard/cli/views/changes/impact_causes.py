"""Causes of an impact as lines: the edits of data files, the first with the effect on its own."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.text import Text

from jacquard.cli.console import plural
from jacquard.cli.views.changes.values import VALUE
from jacquard.previews.impacts.impact import Cause, Row

_MOST = 3
_FIRST, _NEXT, _TOGETHER = "caused by ", "and by ", "together with "
_CODE = "caused by changed code: no edit of data files has this effect"


def causes(part: Sequence[Row]) -> Iterator[Text]:
    """Yield a line per edit that causes the effects of a part; many entries of one list share a line."""
    edits = list(dict.fromkeys(cause for row in part for cause in row.causes))
    if not edits:
        yield Text(_CODE)
        return
    lines = list(_alike(edits))
    for index, alike in enumerate(lines[:_MOST]):
        begins = _FIRST if not index else _NEXT if alike[0].alone else _TOGETHER
        yield Text(begins).append_text(_edit(alike))
    if more := sum(map(len, lines[_MOST:])):
        yield Text(f"and {plural(more, 'more edit')}")


def _alike(edits: Sequence[Cause]) -> Iterator[list[Cause]]:
    """Yield edits of which each has a line; more than `_MOST` added or removed entries of a list are one."""
    lists: dict[object, list[Cause]] = defaultdict(list)
    for cause in edits:
        lists[_list_of(cause)].append(cause)
    for alike in lists.values():
        yield from [alike] if len(alike) > _MOST else ([cause] for cause in alike)


def _list_of(cause: Cause) -> object:
    """Return the list or mapping to which an edit adds an entry, or from which it removes one; else the edit."""
    if cause.old is not None and cause.new is not None:
        return cause
    return cause.file, cause.path.rpartition(".")[0], cause.old is None


def _edit(alike: Sequence[Cause]) -> Text:
    first, last = alike[0], alike[-1]
    if len(alike) > 1:
        place, names = f"{first.file}:{first.line}-{last.line}", [cause.path.rpartition(".")[2] for cause in alike]
        within = first.path.rpartition(".")[0]
        inside = Text.assemble(" ", (within, VALUE)) if within else ""
        change = f": {plural(len(alike), 'entry', 'entries')} {'added' if first.old is None else 'removed'}, "
        return Text.assemble((place, VALUE), inside, change, (names[0], VALUE), " to ", (names[-1], VALUE))
    if not first.path:
        change = "added" if first.old is None else "removed" if first.new is None else "changed"
        return Text.assemble((first.file, VALUE), f": file {change}")
    old, new = ((value, VALUE) if value else "none" for value in (first.old, first.new))
    return Text.assemble((f"{first.file}:{first.line}", VALUE), " ", (first.path, VALUE), ": ", old, " -> ", new)
