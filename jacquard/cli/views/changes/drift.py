"""Drift as text, by owner of the fields; equal drift of several objects is shown once."""

from collections import defaultdict
from collections.abc import Iterator

from rich.text import Text

from components.specs.reading.problems import listed, visible
from jacquard.cli.console import plural
from jacquard.observe.drift import By, Drift, FieldDrift, ObjectDrift, What

_NAMES = 3
"""Maximum number of objects with the same drift that are listed by name."""
_TITLES = {
    By.HAND: "changed by hand",
    By.OTHER: "changed by another program",
    By.NOBODY: "without an owner",
    By.OURS: "declared differently, not applied yet",
}
_WHOLE = {
    What.MISSING: "declared but missing",
    What.GOING: "declared but being deleted",
    What.LEFT_OVER: "managed by Jacquard, no longer declared",
    What.FOREIGN: "labelled as managed by Jacquard, but not managed by it",
}


def lines(drift: Drift) -> Iterator[Text]:
    """Yield the text output."""
    moment = f"{drift.observed_at:%Y-%m-%d %H:%M} UTC"
    yield Text(f"{drift.environment}: {plural(drift.compared, 'declared object')} compared, {moment}", "bold")
    if not drift.objects and not drift.unread:
        yield Text("  no drift")
    yield from _fields(drift)
    for what, title in _WHOLE.items():
        yield from _section(title, _whole(drift, what))
    yield from _section("compared without the API server", _notes(drift))
    unread = [f"{item.cluster}{f': {item.what}' if item.what else ''}: {item.reason}" for item in drift.unread]
    yield from _section("could not be read", unread)


def _section(title: str, items: list[str]) -> Iterator[Text]:
    if items:
        yield Text("")
        yield Text(f"{title}:")
        yield from (Text(f"  {visible(item)}") for item in items)


def _fields(drift: Drift) -> Iterator[Text]:
    alike: dict[tuple[By, str, str], list[tuple[ObjectDrift, FieldDrift]]] = defaultdict(list)
    for item in drift.objects:
        for field in item.fields:
            values = f"declared {field.declared or 'nothing'}, live {field.live or 'nothing'}"
            owner = f"; {field.manager}" if field.manager else ""
            alike[field.by, item.kind, f"{field.path}: {values}{owner}"].append((item, field))
    for by, title in _TITLES.items():
        texts = [
            f"{kind.rpartition('/')[2]} {text}{_since(same)}: {_objects([item for item, _ in same])}"
            for (owner, kind, text), same in alike.items()
            if owner is by
        ]
        yield from _section(title, texts)


def _since(same: list[tuple[ObjectDrift, FieldDrift]]) -> str:
    moments = [field.since for _, field in same if field.since]
    return f", {max(moments):%Y-%m-%d %H:%M} UTC" if moments else ""


def _objects(same: list[ObjectDrift]) -> str:
    names = listed((f"{item.cluster}/{item.name}" for item in same), _NAMES)
    return names if len(same) == 1 else f"{plural(len(same), 'object')}: {names}"


def _whole(drift: Drift, what: What) -> list[str]:
    alike: dict[tuple[str, str | None], list[ObjectDrift]] = defaultdict(list)
    for item in drift.objects:
        if item.what is what:
            alike[item.kind, item.note].append(item)
    return [
        f"{kind.rpartition('/')[2]} {_objects(same)}{f'; {note}' if note else ''}"
        for (kind, note), same in alike.items()
    ]


def _notes(drift: Drift) -> list[str]:
    alike: dict[str, list[ObjectDrift]] = defaultdict(list)
    for item in drift.objects:
        if item.what is What.DIFFERS and item.note:
            alike[item.note].append(item)
    return [f"{note}: {_objects(same)}" for note, same in alike.items()]
