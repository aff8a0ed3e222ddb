"""Parameters of policies that ``--policy-pack-config`` sets. A value can only be stricter than the environment's."""

from collections.abc import Callable, Mapping
from typing import Any

from components.specs.struct import Struct, replace
from policies.facts import Context


class Parameter(Struct):
    """Value that a policy compares objects with."""

    name: str
    schema: Mapping[str, Any]
    """JSON schema of the value; the engine validates the type."""
    fault: Callable[[Any, Context], str]
    """Returns the reason why a value is not permitted, or an empty text."""
    apply: Callable[[Any, Context], Context]
    """Returns the context with a permitted value."""


def limit(rule: str, name: str, most: int, description: str) -> Parameter:
    """Return the parameter ``name`` of ``rule``, a number of at most ``most``; the rule reads ``context.limit``."""

    def fault(value: Any, _context: Context) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
            return "must be a whole number of at least 0"
        return f"must be at most {most}, the limit of the policy" if value > most else ""

    def apply(value: Any, context: Context) -> Context:
        return replace(context, limits={**context.limits, (rule, name): int(value)})

    return Parameter(
        name=name,
        schema={"type": "integer", "description": f"{description}; at most {most}, the default"},
        fault=fault,
        apply=apply,
    )
