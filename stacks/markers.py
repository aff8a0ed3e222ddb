"""Prefixes of program messages that the command recognises; a separate module, since the command never loads Pulumi."""

WAITING = "waiting: "
"""Prefix of the error for a stack with missing prerequisites."""
NOT_READY = "not ready: "
"""Prefix of preview messages about existing, unready objects for which the run will wait."""
