"""Drives pulumi on the stacks of an environment: runs and their events, locks, freezes. Prints nothing."""
