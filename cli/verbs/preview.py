"""``jacquard preview``: what ``up`` would do."""

from __future__ import annotations

from cli import arguments, data
from cli.console import Format, print_json, stdout
from cli.engine_runs import previewed
from cli.views import preview as preview_view
from engine.driver import Engine, Run
from stacks.target import stack_names


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
        print_json({"environment": environment, "stacks": [preview_view.to_json(run) for run in runs]})
        return
    for run in runs:
        preview_view.show(stdout(), run, diff=diff)


def _run(engine: Engine, stack: str, *, diff: bool) -> Run:
    options = ("--diff",) if diff else ()
    return previewed(engine, stack, *options, title=f"preview of {stack}", resume="preview")
