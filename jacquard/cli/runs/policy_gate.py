"""Policy checks before an apply: refused environments and frozen stacks with changes are not applied."""

import datetime as dt
from collections.abc import Sequence
from functools import partial

from components.rules.checks import errors
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.cli.console import plural
from jacquard.cli.errors import Refusal
from jacquard.cli.runs import refresh as refreshes
from jacquard.cli.runs.engine import previewed
from jacquard.cli.runs.stacks import results, together
from jacquard.cli.views.progress import Screen
from jacquard.engine.driver import Engine, Run
from jacquard.engine.freezes import FrozenStack, frozen_stacks
from jacquard.engine.missing_stacks import previewing
from policies import Judgement, judge, levels
from policies.places import Places
from policies.results import Decision, Source, decision, of_judgement, of_violation


def refuse(environment: Environment, now: dt.datetime) -> Judgement:
    """Return the judgement of the policies if they allow ``environment``.

    After a refusal, no part of the environment is applied, including parts without violations.

    Raises:
        SpecError: the settings of the policies are wrong.
        Refusal: with all results.
    """
    problems = errors(levels.problems(environment, now), now.astimezone(dt.UTC).date())
    if problems:
        raise SpecError(environment.name, problems)
    judgement = judge(environment, now)
    results = list(of_judgement(judgement, environment))
    if decision(results) is not Decision.PASSED:
        texts = "\n".join(map(str, judgement.refused))
        count = plural(len(judgement.refused), "policy violation")
        msg = f"{environment.name}: {count}, nothing was applied\n{texts}"
        raise Refusal(msg, results)
    return judgement


def unchanged(environment: Environment, engine: Engine, now: dt.datetime, *, refresh: bool = False) -> frozenset[str]:
    """Return the frozen stacks, none of which has changes; frozen stacks are not applied.

    With ``refresh``, missing live objects count as changes.

    Raises:
        Refusal: a frozen stack has changes.
        Stop: its preview failed.
    """
    frozen = frozen_stacks(environment, now, partial(_previews, engine, refreshes.options(refresh=refresh)))
    refused = [_refusal(item) for item in frozen if item.changes]
    if refused:
        msg = f"{environment.name}: {plural(len(refused), 'frozen stack')} would change, nothing was applied"
        violations = [violation for item in frozen if item.changes for violation in item.violations]
        raise Refusal(
            "\n".join([msg, *refused]),
            (of_violation(item, Places(environment), Source.CHANGE) for item in violations),
        )
    return frozenset(item.stack for item in frozen)


def _previews(engine: Engine, options: Sequence[str], stacks: Sequence[str]) -> dict[str, Run]:
    """Return the preview of each stack, in any order."""

    def preview(stack: str, screen: Screen) -> Run:
        with previewing(engine, engine.look(stack)) as able:
            title = f"preview of {stack}, which is frozen"
            return previewed(able, stack, *options, title=title, resume="up", screen=screen)

    return results(together(dict.fromkeys(stacks, ()), preview))


def _refusal(item: FrozenStack) -> str:
    texts = "\n".join(str(violation) for violation in item.violations)
    return f"{item.stack}: {plural(item.changes, 'change')}\n{texts}"
