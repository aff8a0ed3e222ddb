"""What is not as it is declared, for people: by who owns it, and the same on many objects as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.text import Text

from components.specs.reading.problems import listed, visible
from jacquard.cli.console import plural
from jacquard.observe.drift import By, Drift, FieldDrift, ObjectDrift, What

_NAMES = 3
"""Objects that are named of many with the same drift."""
_TITLES = {
    By.HAND: "changed by hand",
    By.OTHER: "changed by another program",
    By.NOBODY: "owned by nobody",
    By.OURS: "declared otherwise, and not applied yet",
}
_WHOLE = {
    What.MISSING: "declared, and not there",
    What.GOING: "declared, and being deleted",
    What.LEFT_OVER: "ours, and declared no more",
    What.FOREIGN: "with our marks, and not ours",
}


def lines(found: Drift) -> Iterator[Text]:
    """Yield what a person reads."""
    moment = f"{found.observed_at:%Y-%m-%d %H:%M} UTC"
    yield Text(f"{found.environment}: {plural(found.compared, 'declared object')} compared, {moment}", "bold")
    if not found.objects and not found.unread:
        yield Text("  all are as declared")
    yield from _fields(found)
    for what, title in _WHOLE.items():
        yield from _section(title, _whole(found, what))
    yield from _section("compared without the API server", _notes(found))
    unread = [f"{one.cluster}{f': {one.what}' if one.what else ''}: {one.reason}" for one in found.unread]
    yield from _section("could not be read", unread)


def _section(title: str, told: list[str]) -> Iterator[Text]:
    if told:
        yield Text("")
        yield Text(f"{title}:")
        yield from (Text(f"  {visible(line)}") for line in told)


def _fields(found: Drift) -> Iterator[Text]:
    alike: dict[tuple[By, str, str], list[tuple[ObjectDrift, FieldDrift]]] = defaultdict(list)
    for one in found.objects:
        for field in one.fields:
            values = f"declared {field.declared or 'nothing'}, live {field.live or 'nothing'}"
            owner = f"; {field.manager}" if field.manager else ""
            alike[field.by, one.kind, f"{field.path}: {values}{owner}"].append((one, field))
    for by, title in _TITLES.items():
        told = [
            f"{kind.rpartition('/')[2]} {text}{_since(same)}: {_objects([one for one, _ in same])}"
            for (owner, kind, text), same in alike.items()
            if owner is by
        ]
        yield from _section(title, told)


def _since(same: list[tuple[ObjectDrift, FieldDrift]]) -> str:
    moments = [field.since for _, field in same if field.since]
    return f", {max(moments):%Y-%m-%d %H:%M} UTC" if moments else ""


def _objects(same: list[ObjectDrift]) -> str:
    names = listed((f"{one.cluster}/{one.name}" for one in same), _NAMES)
    return names if len(same) == 1 else f"{plural(len(same), 'object')}: {names}"


def _whole(found: Drift, what: What) -> list[str]:
    alike: dict[tuple[str, str | None], list[ObjectDrift]] = defaultdict(list)
    for one in found.objects:
        if one.what is what:
            alike[one.kind, one.note].append(one)
    return [
        f"{kind.rpartition('/')[2]} {_objects(same)}{f'; {note}' if note else ''}"
        for (kind, note), same in alike.items()
    ]


def _notes(found: Drift) -> list[str]:
    alike: dict[str, list[ObjectDrift]] = defaultdict(list)
    for one in found.objects:
        if one.what is What.DIFFERS and one.note:
            alike[one.note].append(one)
    return [f"{note}: {_objects(same)}" for note, same in alike.items()]
