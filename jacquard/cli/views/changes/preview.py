"""Output of ``jacquard preview`` for one stack: changes by component."""

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from components.specs.struct import Struct
from jacquard.cli.console import seconds
from jacquard.engine.driver import Run
from jacquard.engine.events import Progress
from jacquard.engine.urns import Urn, is_object

_WORDS = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "retain": "leave in the cluster",
}
"""Text of each operation."""


class ComponentChange(Struct):
    """Number of planned changes to the resources of one component, by operation."""

    component: str
    operations: dict[str, int]


def by_component(progress: Progress) -> list[ComponentChange]:
    """Return the changes of a run, counted by component and sorted by its name."""
    counts: dict[str, Counter[str]] = {}
    for text, operation in progress.done.items():
        if is_object(Urn(text)) and operation in _WORDS:
            counts.setdefault(str(progress.component(text)), Counter())[operation] += 1
    return [ComponentChange(component=name, operations=dict(counts[name])) for name in sorted(counts)]


def to_json(run: Run) -> dict[str, Any]:
    """Return the preview of a stack as data."""
    return {
        "stack": run.stack,
        "changes": dict(run.progress.changes),
        "components": [
            {"component": item.component, "operations": item.operations} for item in by_component(run.progress)
        ],
    }


def show(console: Console, run: Run, *, diff: bool) -> None:
    """Print the preview of a stack: one row per component, and the engine's own output if ``diff``."""
    changes = by_component(run.progress)
    took = seconds(run.duration_seconds)
    if not changes:
        console.print(Text.assemble((run.stack, "bold"), f": no changes, {took}"))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("component", overflow="fold")
    used = [operation for operation in _WORDS if run.progress.changes[operation]]
    for operation in used:
        table.add_column(_WORDS[operation], justify="right")
    for item in changes:
        table.add_row(item.component, *(str(item.operations.get(operation, "")) for operation in used))
    console.print(table)
    total = ", ".join(f"{run.progress.changes[operation]} to {_WORDS[operation]}" for operation in used)
    console.print(Text.assemble((run.stack, "bold"), f": {total}, {took}"))
    if diff:
        console.print()
        console.print(Text(run.log.read_text(errors="replace")), no_wrap=True, overflow="ignore", crop=False)
