"""What a freeze lets ``jacquard up`` apply: nothing of a frozen stack that changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from cli.console import plural, stderr
from cli.engine import POLICY_PACK, Engine
from cli.errors import ExitCode, Stop
from cli.failures import raise_for
from cli.progress_view import phase
from components.specs.environment import Environment
from policies.check import frozen
from policies.judging import Violation
from stacks.target import stack_names


def unchanged(environment: Environment, engine: Engine, now: dt.datetime) -> frozenset[str]:
    """Return the frozen stacks, which nothing would change and so need no apply.

    Each is previewed first, since the pack refuses to apply a frozen stack at all.

    Raises:
        Stop: with REFUSED, when one would change; or its preview failed.
    """
    held = {stack: found for stack in stack_names(environment) if (found := frozen(environment, stack, now))}
    changes = {stack: _changes(engine, stack) for stack in held}
    refused = [_refusal(stack, found, changes[stack]) for stack, found in held.items() if changes[stack]]
    if refused:
        msg = f"{environment.name}: {plural(len(refused), 'frozen stack')} would change, nothing was applied"
        raise Stop("\n".join([msg, *refused]), ExitCode.REFUSED)
    return frozenset(held)


def _changes(engine: Engine, stack: str) -> int:
    engine.select(stack)
    with phase(stderr(), f"preview of {stack}, which is frozen") as shown:
        run = engine.run(
            "preview",
            stack,
            "--policy-pack",
            POLICY_PACK,
            watch=lambda progress: shown.engine(progress, 0, "resources"),
        )
    raise_for(stderr(), run, "preview", f"jacquard up {stack.partition('.')[0]}")
    return run.progress.changes.total()


def _refusal(stack: str, found: Sequence[Violation], changes: int) -> str:
    texts = "\n".join(str(item) for item in found)
    return f"{stack}: {plural(changes, 'change')}\n{texts}"
