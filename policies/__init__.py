"""Rules that every deploy must keep: judged by the engine on each deploy, and without it by ``jacquard check``."""

from policies.check import judge
from policies.verdict import Violation

__all__ = ["Violation", "judge"]
