"""Policies that every deployment must satisfy: evaluated by the engine, and by ``jacquard check`` without an engine.

Names are imported on first use: the policy pack starts without the modules that render an environment.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.check import Judgement, judge, new_violations
    from policies.judging import Violation

__all__ = ["Judgement", "Violation", "judge", "new_violations"]
_HOMES = dict.fromkeys(("Judgement", "judge", "new_violations"), "policies.check") | {"Violation": "policies.judging"}


def __getattr__(name: str) -> object:
    """Return a name of the package from the module that defines it."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
