"""Runs Pulumi on the stacks of an environment: events, locks, freezes, blocked changes. Prints nothing."""
