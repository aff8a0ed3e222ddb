"""How a run of the engine ends when it does not end by itself."""

from __future__ import annotations


class EngineError(Exception):
    """The engine, a stack or a lock is not as an operation needs it; the message says what to do."""


class EngineStopped(Exception):  # noqa: N818 - somebody asked for it
    """A run was asked to end, and the engine has recorded what it did."""
