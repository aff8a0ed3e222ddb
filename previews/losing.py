"""Which losses of a plan need a word, with who uses what would go, asked of the clusters as they are now."""

from __future__ import annotations

from functools import partial

from components.specs.environment import Environment
from engine import guard
from engine.guard import Held
from engine.plan import Loss, Plan
from observe.observation import connect
from observe.users import USED, Name, UnseenError, users


def held(plan: Plan, environment: Environment) -> list[Held]:
    """Return the losses of ``plan`` that need a word, in order of kind and name; clusters are asked only about some."""
    return guard.held(plan, environment, partial(_users, plan, environment))


def _users(plan: Plan, environment: Environment, loss: Loss) -> tuple[str, ...] | None:
    """Return who uses an object, without what the plan itself moves or takes away; None where nobody could look."""
    name = loss.identity[1:] if loss.identity else ("", "", "", "")
    used = (f"{name[0]}/{name[1]}", name[2], name[3])
    if used[0] not in USED:
        return ()

    def known(user: Name) -> bool:
        return (loss.cluster, *user) in plan.known

    try:
        return users(lambda: connect(environment, loss.cluster), used, known)
    except UnseenError:
        return None
