"""Errors that end a run of the engine."""


class EngineError(Exception):
    """The engine, a stack or a lock is in a state that an operation cannot use; the message contains the remedy."""


class EngineStopped(Exception):  # noqa: N818 - a requested stop is not an error
    """A run was stopped on request; the engine has recorded its changes."""
