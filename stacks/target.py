"""Resolves the name of a stack to an environment and its slices."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from components.lookups.slices import BY_COMMAND, Slice, SliceKind, needs, slices
from components.rules.checks import check, errors
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import SpecError, listed
from components.specs.region.state import StackLayout
from stacks.errors import StackError
from stacks.extensions import joined

BOOTSTRAP = "bootstrap"
"""Suffix of the name of the stack that creates the clusters of a rehearsal."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """Environment and slices that a stack applies."""

    environment: Environment
    slices: tuple[Slice, ...]
    """Slices in order of application; empty for the bootstrap stack."""
    bootstrap: bool = False


def load_target(stack: str, folder: Path, today: dt.date) -> Target:
    """Return the target of ``stack``, from the data in ``folder`` that have no errors on ``today``.

    Raises:
        StackError: the name matches no environment, or does not match the stack layout of its environment.
        SpecError: the data of the environment is invalid.
    """
    name, _, part = stack.partition(".")
    known = environments(folder)
    if name not in known:
        msg = (
            f"stack '{stack}': environment '{name}' does not exist (existing: {listed(known)}); "
            "name a stack <environment>, or <environment>.<slice> if the environment is applied in slices"
        )
        raise StackError(msg)
    environment = joined(load_environment(name, folder))
    problems = errors(check(environment), today)
    if problems:
        raise SpecError(name, problems)
    if part == BOOTSTRAP:
        return _bootstrap(stack, environment)
    return Target(environment=environment, slices=_chosen(stack, part, environment))


def stack_names(environment: Environment) -> tuple[str, ...]:
    """Return the stacks of ``environment`` in order of application, without the bootstrap stack."""
    return tuple(stack_needs(environment))


def stack_needs(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the dependencies of each stack of ``environment``, all in order of application."""
    if environment.region.stacks is StackLayout.WHOLE:
        return {environment.name: ()}
    return {
        f"{environment.name}.{name}": tuple(f"{environment.name}.{other}" for other in needed)
        for name, needed in needs(environment).items()
    }


def engine_stack(environment: Environment) -> str | None:
    """Return the stack with the Stacks of the operator that applies slices; None if `jacquard up` applies them."""
    return f"{environment.name}.{SliceKind.ENGINE}" if environment.region.engine else None


def operator_stacks(environment: Environment) -> frozenset[str]:
    """Return the stacks that an operator applies, which are all except the foundation and the engine."""
    if environment.region.engine is None:
        return frozenset()
    own = {f"{environment.name}.{kind}" for kind in BY_COMMAND}
    return frozenset(stack_needs(environment)) - own


def _bootstrap(stack: str, environment: Environment) -> Target:
    stage = environment.region.stage
    if stage is not Stage.REHEARSAL:
        msg = (
            f"stack '{stack}': only environments of stage rehearsal create their own clusters, and stage is {stage} in "
            f"environments/{environment.name}/region.yaml; set context: there to that of the management cluster"
        )
        raise StackError(msg)
    return Target(environment=environment, slices=(), bootstrap=True)


def _chosen(stack: str, part: str, environment: Environment) -> tuple[Slice, ...]:
    pieces = slices(environment)
    names = stack_names(environment)
    where = f"stacks: {environment.region.stacks} in environments/{environment.name}/region.yaml"
    if environment.region.stacks is StackLayout.WHOLE:
        if not part:
            return pieces
        msg = f"stack '{stack}': environment '{environment.name}' is one stack ({where}); use {names[0]}"
        raise StackError(msg)
    chosen = tuple(piece for piece in pieces if piece.name == part)
    if chosen:
        return chosen
    reason = f"has no slice '{part}'" if part else "is applied in slices"
    msg = f"stack '{stack}': environment '{environment.name}' {reason} ({where}); use one of {listed(names)}"
    raise StackError(msg)
