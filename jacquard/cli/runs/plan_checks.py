"""Checks before a stack is applied: the kind of its provider plug-ins, and the destructive changes of its plan."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from components.specs.environment import Environment
from components.specs.struct import Struct, field
from jacquard.cli.console import plural, stderr
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.runs import refresh as refreshes
from jacquard.cli.runs.engine import previewed, watched
from jacquard.cli.views.changes import blocked as view
from jacquard.cli.views.progress import Screen
from jacquard.engine import guard
from jacquard.engine.driver import Engine, Ready, Run
from jacquard.engine.guard import Held
from jacquard.machine.kind import Kind
from jacquard.previews import removals
from jacquard.previews.engine_preview import REFRESH
from stacks.markers import NOT_READY
from stacks.provider_migration import others, refusal


class Plan(Struct):
    """The effect of applying a stack."""

    stack: str
    empty: bool = False
    """Whether the plan changes no object and no recorded resource, and waits for nothing."""
    held: tuple[Held, ...] = ()
    """Destructive changes that require confirmation."""
    changes: Counter[str] = field(default_factory=Counter)
    """Number of planned changes of objects by operation; empty for a stack without a state, which is not previewed."""
    refreshed: bool = False
    """Whether the plan was made from live objects; `up` then refreshes the state too."""
    seconds: float = 0.0
    """Duration of planning."""

    @property
    def token(self) -> str | None:
        """Return the token that confirms exactly these destructive changes; None if there are none."""
        return guard.digest(self.stack, self.held) if self.held else None


class BlockedError(Stop):
    """Plans contain unconfirmed destructive changes; nothing is applied."""

    def __init__(self, message: str, plans: Sequence[Plan]) -> None:
        super().__init__(message, ExitCode.CONFIRMATION_REQUIRED)
        self.plans = plans

    def to_json(self) -> dict[str, Any]:
        """Return the blocked changes of each stack as data."""
        return {"held": {plan.stack: view.to_json(plan.held, plan.token) for plan in self.plans}}


def plan(
    engine: Engine,
    environment: Environment,
    stack: str,
    *,
    migrate_to: Kind | None = None,
    refresh: bool = False,
    screen: Screen | None = None,
) -> Plan:
    """Prepare ``stack`` and return the effect of applying it.

    Args:
        engine: plans the stack.
        environment: environment of the stack.
        stack: name of the stack.
        migrate_to: kind of provider plug-ins that may take over the stack; they refresh its state first.
        refresh: whether to plan from the live objects instead of the recorded ones.
        screen: shows the progress; see `watched`.

    Raises:
        EngineError: the stack is locked, or cannot be prepared.
        Stop: with CONFIRMATION_REQUIRED if plug-ins of the other kind wrote it; or the preview failed.
    """
    screen = screen or Screen(stderr())
    ready = engine.prepare(stack)
    for repair in ready.repairs:
        show(repair, "note", screen.console)
    require_writers(engine, ready, migrate_to)
    if not ready.resources:
        return Plan(stack=stack)  # an empty stack has nothing to delete
    if kind := others(ready.writers, engine.serving):
        text = f"{stack}: provider migration to {kind.display_name}, which first refresh the state of the stack"
        show(text, "note", screen.console)
        options = ("--yes", "--skip-preview")
        watched(engine, "refresh", stack, *options, title=f"refresh of {stack}", resume="up", screen=screen)
    resume, refreshing = refreshes.verb(refresh=refresh), refreshes.options(refresh=refresh)
    run = previewed(engine, stack, *refreshing, title=f"plan of {stack}", resume=resume, screen=screen)
    for text in refreshes.found(run) if refresh else ():
        show(text, "note", screen.console)
    return judged(run, environment, refreshed=refresh)


def judged(run: Run, environment: Environment, *, refreshed: bool = False) -> Plan:
    """Return the plan of a preview run, with the destructive changes that require confirmation.

    A refreshed plan is never empty: the apply records the live objects.
    """
    planned = run.progress.plan
    held = tuple(removals.held(planned, environment))
    awaited = any(text.startswith(NOT_READY) for text in run.progress.warnings)
    empty = planned.empty and not awaited and not refreshed
    return Plan(
        stack=run.stack,
        empty=empty,
        held=held,
        changes=run.progress.changes,
        refreshed=refreshed,
        seconds=run.duration_seconds,
    )


def require_writers(engine: Engine, ready: Ready, migrate_to: Kind | None = None) -> None:
    """Pass if the running provider plug-ins are of the kind that wrote the stack, or may take over the stack.

    Raises:
        Stop: with CONFIRMATION_REQUIRED and the remedy.
    """
    if problem := refusal(ready.stack, ready.writers, engine.serving, migrate_to=migrate_to):
        raise Stop(problem, ExitCode.CONFIRMATION_REQUIRED)


def require_confirmation(
    environment: str, plans: Sequence[Plan], confirmed: Sequence[str], *, of: str | None = None
) -> None:
    """Pass if there are no destructive changes, or if ``confirmed`` contains the tokens of all destructive changes.

    Args:
        environment: name of the environment of the plans.
        plans: plans to apply.
        confirmed: tokens given with ``--confirm``.
        of: name of the stack to apply, if it is not the whole environment.

    Raises:
        BlockedError: changes are unconfirmed; the message names the objects, the causes and the tokens.
    """
    tokens = [plan.token for plan in plans if plan.token]
    unconfirmed = [plan for plan in plans if plan.token and plan.token not in confirmed]
    if not unconfirmed:
        return
    count = plural(sum(len(plan.held) for plan in unconfirmed), "object")
    lines = [f"{of or environment}: confirmation required to delete or replace {count}; nothing was applied"]
    for plan in unconfirmed:
        lines += [f"{plan.stack}:", *(f"  {change}" for change in plan.held)]
    if stray := [token for token in confirmed if token not in tokens]:
        lines.append(f"--confirm {' '.join(stray)}: does not match these changes")
    options = " ".join(f"--confirm {token}" for token in tokens)
    if any(plan.refreshed for plan in plans):
        options = f"{REFRESH} {options}"
    lines.append(f"to confirm exactly these changes: jacquard up {environment} {options}")
    raise BlockedError("\n".join(lines), unconfirmed)
