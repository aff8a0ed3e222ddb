"""Rules that every deploy must keep: judged by the engine on each deploy, and without it by ``jacquard check``."""

from policies.check import Judgement, judge
from policies.judging import Violation

__all__ = ["Judgement", "Violation", "judge"]
