"""Prefixes by which the command recognises messages of the program; the command itself never loads Pulumi."""

WAITING = "waiting: "
"""Prefix of the error for a stack with missing prerequisites."""
NOT_READY = "not ready: "
"""Prefix of preview messages about existing objects that are not ready and for which the run will wait."""
