"""What is looked at before a stack is applied: who wrote it last, and what applying it would end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.specs.environment import Environment
from jacquard.cli.console import plural, stderr
from jacquard.cli.engine_runs import previewed, watched
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes import blocked as view
from jacquard.cli.views.progress import Screen
from jacquard.engine import guard
from jacquard.engine.driver import Engine, Ready, Run
from jacquard.engine.guard import Held
from jacquard.machine.kind import Kind
from jacquard.previews import removals
from stacks.markers import NOT_READY
from stacks.provider_migration import others, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What applying a stack would do."""

    stack: str
    empty: bool = False
    """Whether there is nothing to apply, not even to the record of a resource, and nothing to wait for."""
    held: tuple[Held, ...] = ()
    seconds: float = 0.0
    """How long it took to make."""

    @property
    def word(self) -> str | None:
        """Return the word that lets exactly these losses pass; None if nothing is held."""
        return guard.digest(self.stack, self.held) if self.held else None


class HeldBack(Stop):
    """Nothing is applied, since a plan would lose what nobody asked to lose."""

    def __init__(self, message: str, plans: Sequence[Plan]) -> None:
        super().__init__(message, ExitCode.HELD)
        self.plans = plans

    def to_json(self) -> dict[str, Any]:
        """Return what is held, as data."""
        return {"held": {plan.stack: view.to_json(plan.held, plan.word) for plan in self.plans}}


def plan(
    engine: Engine,
    environment: Environment,
    stack: str,
    *,
    switch_to: Kind | None = None,
    screen: Screen | None = None,
) -> Plan:
    """Make ``stack`` ready, and return what applying it would do.

    Args:
        engine: what plans it.
        environment: whose stack it is.
        stack: its name.
        switch_to: the kind of plug-ins that may take the stack over; its state is then refreshed by these first.
        screen: where it is shown; see `watched`.

    Raises:
        EngineError: the stack is locked, or cannot be made ready.
        Stop: with HELD, when other plug-ins wrote it; or the preview failed.
    """
    screen = screen or Screen(stderr())
    ready = engine.prepare(stack)
    for repair in ready.repairs:
        show(repair, "note", screen.console)
    require_writers(engine, ready, switch_to)
    if not ready.resources:
        return Plan(stack=stack)  # nothing is there that could be lost
    if now := others(ready.writers, engine.serving):
        show(f"{stack}: {now.words} take it over, its state is refreshed by them first", "note", screen.console)
        options = ("--yes", "--skip-preview")
        watched(engine, "refresh", stack, *options, title=f"refresh of {stack}", resume="up", screen=screen)
    return judged(previewed(engine, stack, title=f"plan of {stack}", resume="up", screen=screen), environment)


def judged(run: Run, environment: Environment) -> Plan:
    """Return the plan that a preview has shown, with what is held of it."""
    planned = run.progress.plan
    held = tuple(removals.held(planned, environment))
    awaited = any(text.startswith(NOT_READY) for text in run.progress.warnings)
    return Plan(stack=run.stack, empty=planned.empty and not awaited, held=held, seconds=run.duration_seconds)


def require_writers(engine: Engine, ready: Ready, switch_to: Kind | None = None) -> None:
    """Pass when the plug-ins that would go on with a stack are of the kind that wrote it, or may take it over.

    Raises:
        Stop: with HELD, and what to do.
    """
    if problem := refusal(ready.stack, ready.writers, engine.serving, switch_to=switch_to):
        raise Stop(problem, ExitCode.HELD)


def require_words(environment: str, plans: Sequence[Plan], accepted: Sequence[str], *, of: str | None = None) -> None:
    """Pass when nothing is held, or somebody said to lose exactly what is.

    Args:
        environment: whose plans these are.
        plans: what is about to be applied.
        accepted: the words that were said.
        of: all that is about to be applied, where that is less than the environment.

    Raises:
        HeldBack: something is held; the text names it, what forces it, and the word for exactly that.
    """
    words = [plan.word for plan in plans if plan.word]
    unsaid = [plan for plan in plans if plan.word and plan.word not in accepted]
    if not unsaid:
        return
    count = plural(sum(len(plan.held) for plan in unsaid), "object")
    lines = [f"{of or environment}: {count} would be lost that nobody asked to lose, nothing was applied"]
    for plan in unsaid:
        lines += [f"{plan.stack}:", *(f"  {one}" for one in plan.held)]
    if stray := [word for word in accepted if word not in words]:
        lines.append(f"--accept {' '.join(stray)}: is for another list than this one")
    lines.append(f"to lose exactly these: jacquard up {environment} {' '.join(f'--accept {word}' for word in words)}")
    raise HeldBack("\n".join(lines), unsaid)
