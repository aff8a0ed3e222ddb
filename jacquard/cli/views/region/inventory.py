"""Output of ``jacquard inventory import`` and ``diff``: added, changed and removed hosts."""

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from components.specs.reading.inventory_text import cells
from components.specs.reading.problems import listed, shown
from jacquard.exchange.importing import Change, Import

MAX_SHOWN = 20
"""Maximum number of hosts listed per kind of change; JSON lists all."""


def lines(file: str, source: str, done: Import) -> Iterator[Text]:
    """Yield the result as text; ``file`` is the inventory, ``source`` the imported file or API."""
    counts = {"added": len(done.added), "changed": len(done.changed), "removed": len(done.removed)}
    totals = [f"{count} {change}" for change, count in counts.items() if count] or ["nothing to change"]
    totals += [f"{done.unchanged} unchanged"] if done.unchanged else []
    yield Text(f"{file}: {', '.join(totals)}")
    yield from _hosts(done)
    if done.kept:
        yield Text(f"not in {source} but kept: {listed(done.kept, MAX_SHOWN)}; --prune removes them")


def compared(file: str, source: str, done: Import) -> Iterator[Text]:
    """Yield the differences between the inventory ``file`` and ``source`` as text."""
    counts = {"new": len(done.added), "changed": len(done.changed), "missing": len(done.removed)}
    totals = [f"{count} {change}" for change, count in counts.items() if count] or ["no differences"]
    totals += [f"{done.unchanged} equal"] if done.unchanged else []
    yield Text(f"{file}, compared with {source}: {', '.join(totals)}")
    yield from _hosts(done)


def _hosts(done: Import) -> Iterator[Text]:
    added = [f"{host.host}: rack {host.rack}, slot {host.slot}, {host.instance_type}" for host in done.added]
    changed = [f"{change.host}: {_columns(change)}" for change in done.changed]
    for mark, style, hosts in (("+", "green", added), ("~", "yellow", changed), ("-", "red", done.removed)):
        yield from (Text(f"{mark} {host}", style=style) for host in hosts[:MAX_SHOWN])
        if len(hosts) > MAX_SHOWN:
            yield Text(f"{mark} and {len(hosts) - MAX_SHOWN} more; --format json lists all", style=style)


def to_json(done: Import) -> dict[str, Any]:
    """Return the result as data."""
    return {
        "file": done.file,
        "added": [{"hall": host.hall, **cells(host)} for host in done.added],
        "changed": [
            {"host": change.host, "columns": {key: {"before": a, "after": b} for key, (a, b) in change.columns.items()}}
            for change in done.changed
        ],
        "removed": list(done.removed),
        "kept": list(done.kept),
        "unchanged": done.unchanged,
        "notes": list(done.notes),
    }


def _columns(change: Change) -> str:
    return ", ".join(f"{column} {_value(old)} -> {_value(new)}" for column, (old, new) in change.columns.items())


def _value(value: str) -> str:
    return shown(value or None)
