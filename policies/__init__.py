"""Policies that every deployment must satisfy: evaluated by the engine, and by ``jacquard check`` without an engine."""

from policies.check import Judgement, judge, new_violations
from policies.judging import Violation

__all__ = ["Judgement", "Violation", "judge", "new_violations"]
