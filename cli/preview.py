"""``jacquard preview``: what ``up`` would do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import arguments, data
from cli.console import Format, print_json, seconds, stderr, stdout
from cli.engine import POLICY_PACK, Engine, Run
from cli.events import Progress, Urn, is_object
from cli.failures import raise_for
from cli.progress_view import phase
from stacks.target import stack_names

_WORDS = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "retain": "leave in the cluster",
}
"""Operation to what is said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentChange:
    """What would happen to the resources of one component."""

    component: str
    operations: dict[str, int]


def preview(
    environment: arguments.Env,
    *,
    diff: arguments.DiffOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Show what 'up' would do, and what policies refuse.

    Counts resources by component; nothing is changed. Ends with 4 when a policy refuses.
    """
    spec = data.checked(environment)
    engine = Engine(environment, spec.region.state, {})
    runs = [_run(engine, stack, diff=diff) for stack in stack_names(spec)]
    if output is Format.JSON:
        print_json({"environment": environment, "stacks": [_data(run) for run in runs]})
        return
    for run in runs:
        _show(stdout(), run, diff=diff)


def by_component(progress: Progress) -> list[ComponentChange]:
    """Return the changes of a run, summed up by component and sorted by its name."""
    counts: dict[str, Counter[str]] = {}
    for text, operation in progress.done.items():
        if is_object(Urn(text)) and operation in _WORDS:
            counts.setdefault(str(progress.component(text)), Counter())[operation] += 1
    return [ComponentChange(component=name, operations=dict(counts[name])) for name in sorted(counts)]


def _run(engine: Engine, stack: str, *, diff: bool) -> Run:
    engine.select(stack)
    options = ("--policy-pack", POLICY_PACK, *(("--diff",) if diff else ()))
    with phase(stderr(), f"preview of {stack}") as shown:
        run = engine.run("preview", stack, *options, watch=lambda progress: shown.engine(progress, 0, "resources"))
    raise_for(stderr(), run, "preview", f"jacquard preview {stack.partition('.')[0]}")
    return run


def _data(run: Run) -> dict[str, Any]:
    return {
        "stack": run.stack,
        "changes": dict(run.progress.changes),
        "components": [
            {"component": item.component, "operations": item.operations} for item in by_component(run.progress)
        ],
    }


def _show(console: Console, run: Run, *, diff: bool) -> None:
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
        console.print(Text(run.log.read_text(errors="replace")), soft_wrap=True)
