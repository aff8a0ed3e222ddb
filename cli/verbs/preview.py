"""``jacquard preview``: what ``up`` would do."""

from __future__ import annotations

from cli import arguments, data, plans
from cli.console import Format, print_json, stdout
from cli.engine_runs import previewed
from cli.plans import Plan
from cli.views import held as held_view
from cli.views import preview as preview_view
from components.specs.environment import Environment
from engine.driver import Engine, Run
from stacks.target import stack_names


def preview(
    environment: arguments.Env,
    *,
    diff: arguments.DiffOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Show what 'up' would do, and what policies refuse.

    Counts resources by component; nothing is changed. Ends with 4 when a policy refuses, with 5 when 'up' would lose
    objects that nobody asked to lose.
    """
    spec = data.checked(environment)
    engine = Engine(environment, spec.region.state, {})
    found = [_plan(engine, spec, stack, diff=diff) for stack in stack_names(spec)]
    if output is Format.JSON:
        stacks = [preview_view.to_json(run) | {"held": held_view.to_json(plan.held, plan.word)} for plan, run in found]
        print_json({"environment": environment, "stacks": stacks})
    else:
        for _, run in found:
            preview_view.show(stdout(), run, diff=diff)
    plans.require_words(environment, [plan for plan, _ in found], ())


def _plan(engine: Engine, environment: Environment, stack: str, *, diff: bool) -> tuple[Plan, Run]:
    plans.require_writers(engine, engine.look(stack))
    options = ("--diff",) if diff else ()
    run = previewed(engine, stack, *options, title=f"preview of {stack}", resume="preview")
    return plans.judged(run, environment), run
