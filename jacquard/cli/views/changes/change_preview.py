"""Preview of a change as terminal output."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from jacquard.cli.views.changes import change as view
from jacquard.cli.views.changes import impact as impact_view
from jacquard.previews.preview import Preview, Standing, Verdict

_COLOURS = {Verdict.BLOCKED: "bold red", Verdict.NEEDS_APPROVAL: "bold yellow", Verdict.UNDECIDED: "bold magenta"}


def lines(preview: Preview) -> Iterator[RenderableType]:
    """Yield the text output: impact on nodes and tenants first, the verdict last."""
    yield from impact_view.lines(preview.impact)
    yield from _titled("deleted or replaced:", view.losses(preview))
    yield from _titled("policies:", view.offences(preview, *Standing))
    for stack in preview.stacks:
        yield Text("")
        yield Text(view.summed_up(stack), "bold")
        for line in (*view.of_stack(stack), *_drift(view.of_stack(stack, drift=True))):
            yield Text(f"  {line}", view.COLOURS.get(line[:1], ""))
    yield Text("")
    yield Text(f"{preview.environment}: {preview.verdict}", _COLOURS.get(preview.verdict, "bold green"))
    for reason in view.verdict(preview):
        yield Text(f"  {reason}")


def _titled(title: str, items: Iterator[str]) -> Iterator[Text]:
    if texts := list(items):
        yield Text("")
        yield Text(title)
        yield from (Text(f"  {text}") for text in texts)


def _drift(changes: Iterator[str]) -> Iterator[str]:
    if drifted := list(changes):
        yield "drift ('up' does not revert it):"
        yield from drifted
