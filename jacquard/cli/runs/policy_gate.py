"""Policy checks before an apply: refused environments and frozen stacks with changes are not applied."""

import datetime as dt
from collections.abc import Sequence
from functools import partial

from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.cli.console import plural
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.engine import previewed
from jacquard.cli.runs.stacks import results, together
from jacquard.cli.views.progress import Screen
from jacquard.engine.driver import Engine, Run
from jacquard.engine.freezes import FrozenStack, frozen_stacks
from jacquard.engine.missing_stacks import previewing
from policies import Judgement, judge, levels


def refuse(environment: Environment, now: dt.datetime) -> Judgement:
    """Return the judgement of the policies if they allow ``environment``.

    After a refusal, no part of the environment is applied, including parts without violations.

    Raises:
        SpecError: the settings of the policies are wrong.
        Stop: with REFUSED and all violations.
    """
    problems = levels.problems(environment, now)
    if problems:
        raise SpecError(environment.name, problems)
    judgement = judge(environment, now)
    if violations := judgement.refused:
        texts = "\n".join(map(str, violations))
        msg = f"{environment.name}: {plural(len(violations), 'policy violation')}, nothing was applied\n{texts}"
        raise Stop(msg, ExitCode.REFUSED)
    return judgement


def unchanged(environment: Environment, engine: Engine, now: dt.datetime) -> frozenset[str]:
    """Return the frozen stacks, none of which has changes; frozen stacks are not applied.

    Raises:
        Stop: with REFUSED if a frozen stack has changes; or its preview failed.
    """
    frozen = frozen_stacks(environment, now, partial(_previews, engine))
    refused = [_refusal(item) for item in frozen if item.changes]
    if refused:
        msg = f"{environment.name}: {plural(len(refused), 'frozen stack')} would change, nothing was applied"
        raise Stop("\n".join([msg, *refused]), ExitCode.REFUSED)
    return frozenset(item.stack for item in frozen)


def _previews(engine: Engine, stacks: Sequence[str]) -> dict[str, Run]:
    """Return the preview of each stack, in any order."""

    def preview(stack: str, screen: Screen) -> Run:
        with previewing(engine, engine.look(stack)) as able:
            return previewed(able, stack, title=f"preview of {stack}, which is frozen", resume="up", screen=screen)

    return results(together(dict.fromkeys(stacks, ()), preview))


def _refusal(item: FrozenStack) -> str:
    texts = "\n".join(str(violation) for violation in item.violations)
    return f"{item.stack}: {plural(item.changes, 'change')}\n{texts}"
